import type { AgentDefinition } from '../contracts/definition.js';
import type { DiffLine } from '../contracts/approval.js';
import type { EffectDefinition } from '../contracts/effect.js';
import { effectOf } from '../domain/effect-of.js';
import { proposalText } from '../domain/approval.js';
import { migrateCall } from '../domain/migration.js';
import type { CallMigration, NewMeaning } from '../domain/migration.js';
import { CallError } from '../domain/failure.js';
import { digestOf, sha256Hex } from '../store/hash.js';
import type { Db } from '../store/pool.js';
import type { NewProposal } from '../store/proposal/create.js';
import { openCalls } from '../store/turn/migration-facts.js';
import type { OpenCall, TurnToMigrate } from '../store/turn/migration-facts.js';
import type { CallChange } from '../store/turn/migrate.js';
import { usableDefinition } from './deps.js';
import type { ActivityDeps } from './deps.js';
import { newProposal, previewOf } from './propose.js';
import { schemaProblem } from './schema.js';

interface To {
  turn: TurnToMigrate;
  to: string;
  definition: AgentDefinition;
}

/** What the target said about arguments under the new definition, by key and arguments. */
export type Previews = Map<string, { kind: 'diff'; diff: DiffLine[] } | { kind: 'refused'; message: string }>;

/** A change whose new proposal version still lacks its preview has `missing`. */
export type PlannedChange = CallChange & { missing: EffectDefinition | null };

/** Judges every unfinished call of the turn that does not belong to the new definition yet (D34). */
export async function callChanges(deps: ActivityDeps, db: Db, target: To, previews: Previews): Promise<PlannedChange[]> {
  const calls = (await openCalls(db, target.turn.turnId)).filter((call) => call.digest !== target.to);
  const changes: PlannedChange[] = [];
  for (const call of calls) {
    const oldUsable = (await usableDefinition(deps, call.digest)) !== null;
    const effect = effectOf(target.definition, call.name);
    const migration = migrateCall({ ...call, oldUsable }, meaningOf(call, target.definition, effect));
    changes.push(planned(call, migration, target, effect, previews));
  }
  return changes;
}

function meaningOf(call: OpenCall, definition: AgentDefinition, effect: EffectDefinition | undefined): NewMeaning | null {
  if (call.kind === 'child') return definition.children.some(({ name }) => name === call.name) ? { needsApproval: false, argsProblem: null, sameProposal: true } : null;
  if (effect === undefined) return null;
  const sameProposal = effect.approval !== null && call.approvalId !== null && sha256Hex(proposalText(call.approvalId, call.version, effect, call.args)) === call.hash;
  return { needsApproval: effect.approval !== null, argsProblem: schemaProblem(effect.inputSchema, call.args), sameProposal };
}

function planned(call: OpenCall, migration: CallMigration, { turn, to }: To, effect: EffectDefinition | undefined, previews: Previews): PlannedChange {
  if (migration.do !== 'propose_anew' || effect === undefined) return { call, migration, proposal: null, missing: null };
  const seen = previews.get(previewKey(call));
  if (seen === undefined) return { call, migration, proposal: null, missing: effect };
  if (seen.kind === 'refused') return { call, migration: { do: 'close', reason: seen.message }, proposal: null, missing: null };
  const proposal: NewProposal = newProposal(effect, {
    key: call.key, turnId: turn.turnId, version: call.version + 1, args: call.args, diff: seen.diff, requester: turn.requester, editedBy: null, definitionDigest: to,
  });
  return { call, migration, proposal, missing: null };
}

/** Asks the targets for the differences that new proposal versions will show (D21). */
export async function previewsOf(deps: ActivityDeps, changes: PlannedChange[]): Promise<Previews> {
  const previews: Previews = new Map();
  for (const { call, missing } of changes) {
    if (missing !== null) previews.set(previewKey(call), await previewOf(deps, missing, call.key, call.args));
  }
  return previews;
}

function previewKey(call: OpenCall): string {
  return `${call.key} ${call.version} ${digestOf(call.args)}`;
}

/** Under the lock nobody waits for a target: what was edited after its preview is judged from the start again. */
export function requirePreviews(changes: PlannedChange[]): void {
  const lacking = changes.find(({ missing }) => missing !== null);
  if (lacking !== undefined) throw new CallError('retryable', `the proposal of ${lacking.call.key} was changed meanwhile`);
}
