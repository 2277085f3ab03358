import type { AgentDefinition } from '../../contracts/definition.js';
import type { DetachedRef } from '../../contracts/steps.js';
import type { FinalStatus } from '../../contracts/turn.js';
import { NeedsMigration, clampMessage } from '../../domain/failure.js';
import { effectOf } from '../../domain/effect-of.js';
import { undoRefusalText } from '../../domain/undo-refusal.js';
import { loadDefinition } from '../definition.js';
import { addEvidence } from '../ledger/reconcile.js';
import type { Db } from '../pool.js';
import { beginCompensation } from './begin-compensation.js';
import { doneEffects } from './compensation.js';

/** Begins to undo what a turn has done, where the policy says so for this end (D29). Why it cannot begin is kept with the effect. */
export async function undoByPolicy(db: Db, turnId: string, status: FinalStatus): Promise<void> {
  const definition = await pinnedBy(db, turnId);
  if (definition === null || !definition.effects.some((effect) => effect.compensatedBy !== null)) return;
  const wanted = (name: string): boolean => effectOf(definition, effectOf(definition, name)?.compensatedBy ?? '')?.compensates?.automatic.includes(status) === true;
  for (const { key } of (await doneEffects(db, turnId)).filter(({ name }) => wanted(name))) {
    const begun = await beginCompensation(db, { key, by: null, reason: `the turn ended as ${status}` });
    if (begun.kind === 'refused') {
      await addEvidence(db, { key, by: 'policy', found: null, note: clampMessage(`Undoing it could not begin. ${undoRefusalText(begun.code, begun.detail)}`) });
    }
  }
}

/** Null where this build cannot read it: then it cannot know what undoes what, and a person may ask for it after a migration (D34). */
async function pinnedBy(db: Db, turnId: string): Promise<AgentDefinition | null> {
  const { rows } = await db.query<{ digest: string | null }>('select definition_digest as digest from holdfast.turn where turn_id = $1', [turnId]);
  const digest = rows[0]?.digest ?? null;
  try {
    return digest === null ? null : await loadDefinition(db, digest);
  } catch (error) {
    if (error instanceof NeedsMigration) return null;
    throw error;
  }
}

/** Compensations of a turn and of those that its children opened which no workflow has taken up yet. */
export async function waitingCompensations(db: Db, turnId: string): Promise<DetachedRef[]> {
  const { rows } = await db.query<DetachedRef>(
    `select u.agent, u.thread_id as "threadId", u.turn_id as "turnId", u.workflow_id as "workflowId", true as undoes
     from holdfast.turn t join holdfast.detached d on d.owner_turn_id = t.root_turn_id and d.kind = 'compensation' join holdfast.turn u on u.turn_id = d.turn_id
     where t.turn_id = $1 and u.status = 'queued' order by d.ordinal`,
    [turnId],
  );
  return rows;
}
