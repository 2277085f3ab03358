import { z } from 'zod';
import type { AgentDefinition } from '../contracts/definition.js';
import { migrateInputSchema } from '../contracts/migration.js';
import type { MigrateInput, MigrateRefusal, MigrateResult, Migrated } from '../contracts/migration.js';
import { agentOfDefinition, currentDefinition } from '../store/definition.js';
import { inTransaction } from '../store/pool.js';
import type { Db } from '../store/pool.js';
import { openCalls, openChildTurns, turnToMigrate } from '../store/turn/migration-facts.js';
import type { TurnToMigrate } from '../store/turn/migration-facts.js';
import { applyCallChange, recordMigration, recordedMigration } from '../store/turn/migrate.js';
import type { CallChange } from '../store/turn/migrate.js';
import { toCallRef } from './call-refs.js';
import { usableDefinition } from './deps.js';
import type { ActivityDeps } from './deps.js';
import { callChanges, previewsOf, requirePreviews } from './migrate-calls.js';

/** `id` is issued by the workflow: the same one whenever its step runs. `workflowId`: the conversation that was asked. */
export type MigrateStep = MigrateInput & { id: string; workflowId: string };

interface Target {
  turn: TurnToMigrate;
  from: string;
  to: string;
  definition: AgentDefinition;
}

/**
 * Pins an unfinished turn to another definition of its agent (D34). What was recorded stays; what only waits gets the new meaning. The previews
 * of new proposal versions are made first, then everything is judged again and changed in one transaction under the turn's lock.
 */
export async function migrateTurn(deps: ActivityDeps, { id, workflowId, ...input }: MigrateStep): Promise<MigrateResult> {
  const parsed = migrateInputSchema.safeParse(input);
  if (!parsed.success) return refused('invalid_input', z.prettifyError(parsed.error).slice(0, 500));
  const target = await targetOf(deps, parsed.data, workflowId);
  if ('answer' in target) return target;
  const previews = await previewsOf(deps, await callChanges(deps, deps.pool, target, new Map()));
  const by = deps.principal(parsed.data.as).user;
  return inTransaction(deps.pool, async (db) => {
    const turn = await turnToMigrate(db, target.turn.turnId, true);
    if (turn === null || turn.ended) return refused('turn_finished', 'The turn has ended; its meaning never changes again.');
    const done = await recordedMigration(db, id);
    if (done !== null) return resultOf(db, target, { result: 'migrated', ...done });
    const from = turn.digest ?? target.from;
    const changes = await callChanges(deps, db, target, previews);
    requirePreviews(changes);
    const outcome = { from, to: target.to, ...toldOf(changes) };
    if (from === target.to && changes.every(({ migration }) => migration.do === 'keep')) return resultOf(db, target, { result: 'already', ...outcome });
    for (const change of changes) await applyCallChange(db, change, target.to);
    await recordMigration(db, { id, turnId: turn.turnId, ...outcome, by, reason: parsed.data.reason ?? null });
    return resultOf(db, target, { result: 'migrated', ...outcome });
  });
}

async function targetOf(deps: ActivityDeps, { turnId, to: asked }: MigrateInput, workflowId: string): Promise<Target | MigrateResult> {
  const turn = await turnToMigrate(deps.pool, turnId, false);
  if (turn === null) return refused('not_found', `there is no turn ${turnId}`);
  if (turn.workflowId !== workflowId) return refused('not_found', `the turn runs in the workflow ${turn.workflowId}; migrate it there`);
  if (turn.ended) return refused('turn_finished', 'The turn has ended; its meaning never changes again.');
  if (turn.digest === null) return refused('not_started', 'The turn has not begun; it takes the current definition of its agent when it does.');
  const to = asked ?? (await currentDefinition(deps.pool, turn.agent));
  const agent = to === null ? null : await agentOfDefinition(deps.pool, to);
  if (to === null || agent === null) return refused('unknown_definition', `There is no definition ${to ?? `of the agent ${turn.agent}`}. Start a worker with the configuration that has it.`);
  if (agent !== turn.agent) return refused('foreign_definition', `The definition ${to} is one of the agent ${agent}; the turn is one of ${turn.agent}.`);
  const definition = await usableDefinition(deps, to);
  if (definition === null) return refused('unusable_definition', `This build cannot use the definition ${to}. Start a worker of the release that wrote it, or name another one with --to.`);
  return { turn, from: turn.digest, to, definition };
}

function toldOf(changes: CallChange[]): Pick<Migrated, 'closed' | 'reproposed'> {
  return {
    closed: changes.flatMap(({ call, migration }) => ('reason' in migration ? [{ key: call.key, name: call.name, reason: migration.reason }] : [])),
    reproposed: changes.flatMap(({ proposal }) => (proposal === null ? [] : [{ approvalId: proposal.approvalId, version: proposal.version, hash: proposal.hash }])),
  };
}

/** What the workflow and the operator are told: how everything stands after the migration, so that a repeat tells the same. */
async function resultOf(db: Db, { turn, to, definition }: Target, outcome: Pick<Migrated, 'result' | 'from' | 'to' | 'closed' | 'reproposed'>): Promise<MigrateResult> {
  const pinned = (await openCalls(db, turn.turnId)).filter((call) => call.state === 'pending' && call.digest === to);
  const waits = turn.status.startsWith('waiting_') || turn.status === 'needs_migration';
  return {
    answer: { ...outcome, turnId: turn.turnId, takesEffect: waits ? 'now' : 'next_step', openChildren: await openChildTurns(db, turn.turnId) },
    limits: {
      maxSteps: definition.maxSteps, windowSize: definition.memory.windowSize, modelTimeoutMs: definition.model.timeoutMs, summaryTiming: definition.summary?.timing ?? null,
    },
    calls: [
      ...outcome.closed.map(({ key }) => ({ key, ref: null, proposal: null })),
      ...pinned.map((call) => ({
        key: call.key, ref: toCallRef(call, turn.turnId, call.step, definition),
        proposal: call.proposal !== 'pending' || call.approvalId === null ? null : { approvalId: call.approvalId, version: call.version, hash: call.hash, expiresAt: call.expiresAt },
      })),
    ],
  };
}

function refused(code: MigrateRefusal, message: string): MigrateResult {
  return { answer: { result: 'refused', code, message }, limits: null, calls: [] };
}
