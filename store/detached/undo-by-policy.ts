import type { AgentDefinition } from '../../contracts/definition.js';
import type { DetachedRef } from '../../contracts/steps.js';
import type { FinalStatus } from '../../contracts/turn.js';
import { effectOf } from '../../domain/effect-of.js';
import type { Db } from '../pool.js';
import { beginCompensation } from './begin-compensation.js';
import { doneEffects } from './compensation.js';

/** Begins to undo what a turn has done, where the policy says so for this end (D29). Answers the keys of the effects that are being undone. */
export async function undoByPolicy(db: Db, turnId: string, status: FinalStatus): Promise<string[]> {
  const { rows } = await db.query<{ body: AgentDefinition | null }>('select d.body from turn t left join definition d on d.digest = t.definition_digest where t.turn_id = $1', [turnId]);
  const definition = rows[0]?.body ?? null;
  if (definition === null || !definition.effects.some((effect) => effect.compensatedBy != null)) return [];
  const wanted = (name: string): boolean => effectOf(definition, effectOf(definition, name)?.compensatedBy ?? '')?.compensates?.automatic.includes(status) === true;
  const undone: string[] = [];
  for (const { key } of (await doneEffects(db, turnId)).filter(({ name }) => wanted(name))) {
    const begun = await beginCompensation(db, { key, by: null, reason: `the turn ended as ${status}` });
    if (begun.kind === 'begun') undone.push(key);
  }
  return undone;
}

/** Compensations of a turn and of those that its children opened which no workflow has taken up yet. */
export async function waitingCompensations(db: Db, turnId: string): Promise<DetachedRef[]> {
  const { rows } = await db.query<DetachedRef>(
    `select u.agent, u.thread_id as "threadId", u.turn_id as "turnId", u.workflow_id as "workflowId", true as undoes
     from turn t join detached d on d.owner_turn_id = t.root_turn_id and d.kind = 'compensation' join turn u on u.turn_id = d.turn_id
     where t.turn_id = $1 and u.status = 'queued' order by d.ordinal`,
    [turnId],
  );
  return rows;
}
