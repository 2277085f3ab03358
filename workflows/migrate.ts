import { uuid4, workflowInfo } from '@temporalio/workflow';
import type { MigrateAnswer, MigrateInput, MigrateResult } from '../contracts/migration.js';
import { reading } from './activities.js';
import type { Session } from './session.js';
import { failureText } from './turn.js';

/** Moves the turn to another definition, in the record first, and gives the running turn its new limits and calls (D34). */
export async function migrate(session: Session, input: MigrateInput): Promise<MigrateAnswer> {
  const id = uuid4();
  try {
    const result = await session.activity(() => reading('migration of the turn').migrateTurn({ ...input, id, workflowId: workflowInfo().workflowId }));
    if (result.answer.result !== 'refused') takeUp(session, result.answer.turnId, result);
    return result.answer;
  } catch (error) {
    return { result: 'refused', code: 'preview_failed', message: `The turn could not be migrated and nothing was changed: ${failureText(error)}` };
  }
}

function takeUp(session: Session, turnId: string, { limits, calls }: MigrateResult): void {
  const turn = session.running;
  if (turn?.turnId === turnId) {
    if (limits !== null) Object.assign(turn, limits);
    for (const { key, ref, proposal } of calls) {
      const call = turn.calls?.find((candidate) => candidate.ref.key === key);
      if (call === undefined || call.phase === 'done') continue;
      if (ref !== null) call.ref = ref;
      else if (call.phase === 'start') call.phase = 'done';
      else if (call.proposal !== null) session.decided.set(call.proposal.approvalId, 'closed');
      if (proposal !== null && call.phase === 'approval') call.proposal = proposal;
      if (session.unknown.has(key)) session.settled.set(key, 'changed');
    }
  }
  session.definitions += 1;
}
