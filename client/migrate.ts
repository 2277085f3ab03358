import { migrationSchema } from '../contracts/migration.js';
import type { MigrateAnswer, Migration } from '../contracts/migration.js';
import { userSchema } from '../contracts/principal.js';
import { turnRoute } from '../store/views/routes.js';
import { migrateTurnUpdate } from '../workflows/messages.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { notFound } from './errors.js';
import { freshUpdateId } from './ids.js';
import { parseInput } from './parse.js';

/**
 * Moves an unfinished turn to its agent's current definition, or to a given one (D34). A refusal is an answer, not an error.
 * @throws HoldfastError `not_found`, `invalid_input`, `no_worker`, `unreachable`
 */
export async function migrate(context: ClientContext, turnId: string, options: Migration & { as: string }): Promise<MigrateAnswer> {
  const { as: name, ...rest } = options;
  const as = parseInput(userSchema, name, 'The name of the operator');
  const migration = parseInput(migrationSchema, rest, 'The migration');
  const route = await turnRoute(context.pool, turnId);
  if (route === null) throw notFound('turn', turnId, 'turn list');
  if (route.ended) return { result: 'refused', code: 'turn_finished', message: `The turn has ended as ${route.status}; its meaning never changes again.` };
  const id = freshUpdateId('migrate');
  const handle = context.temporal.workflow.getHandle(route.workflowId);
  const outcome = await callTemporal(context, route.workflowId, () => handle.executeUpdate(migrateTurnUpdate, { args: [{ ...migration, turnId: route.turnId, as }], updateId: id }));
  if (outcome.kind === 'answered') return outcome.value;
  const message = outcome.kind === 'refused' ? outcome.message : 'No run of its conversation is open. Send the input again with its request id, which takes the turn up, then migrate.';
  return { result: 'refused', code: 'not_running', message };
}
