import { ActivityFailure, ApplicationFailure, setHandler, uuid4, workflowInfo } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/workflow';
import type { DecisionAnswer } from '../contracts/approval.js';
import type { CancelAnswer, CancelInput, DecideInput, DecideResult, InputAnswer, InputRef, SettleAnswer, SettleInput } from '../contracts/steps.js';
import { reading, store } from './activities.js';
import * as messages from './messages.js';
import { migrate } from './migrate.js';
import type { Session } from './session.js';
import { failureText } from './turn.js';

/** Cancels what is running; set by the turn (D27). */
export type Interrupt = () => void;

/** Connects a session to its updates, signals and queries. Validators use workflow state only (D5). */
export function registerHandlers(session: Session, interrupt: Interrupt): void {
  setHandler(messages.submitInputUpdate, (input) => takeInput(session, input), { validator: (input) => validateInput(session, input) });
  setHandler(messages.submitDecisionUpdate, (input) => decide(session, input), { validator: (input) => validateDecision(session, input) });
  setHandler(messages.requestCancelUpdate, (input) => cancel(session, input, interrupt));
  setHandler(messages.settleEffectUpdate, (input) => settle(session, input));
  setHandler(messages.migrateTurnUpdate, (input) => migrate(session, input));
  setHandler(messages.stateQuery, () => session.state());
  setHandler(messages.pendingApprovalsQuery, () => session.pendingApprovals());
  registerSignals(session, interrupt);
}

function registerSignals(session: Session, interrupt: Interrupt): void {
  const { workflowId } = workflowInfo();
  onSignal(session, messages.inputSignal, async (payload, id) => {
    if (!takesInput(session)) return refused(session, id, 'input', NOT_ASKED);
    const input = await session.activity(() => store.acceptSignalInput({ id, workflowId, payload, conversation: session.ref }));
    if (input !== null) takeInput(session, input);
  });
  onSignal(session, messages.decideSignal, async (payload, id) => {
    const input = await session.activity(() => store.checkDecideSignal({ id, workflowId, payload }));
    if (input === null) return;
    const answer = await decide(session, input);
    if (answer.result === 'refused') await refused(session, id, 'decide', `${answer.code}: ${answer.message}`);
  });
  onSignal(session, messages.cancelSignal, async (payload, id) => {
    const input = await session.activity(() => store.checkCancelSignal({ id, workflowId, payload }));
    const answer = input === null ? null : await cancel(session, input, interrupt);
    if (answer?.result === 'refused') await refused(session, id, 'cancel', answer.message);
  });
  onSignal(session, messages.settleSignal, async (payload, id) => {
    const input = await session.activity(() => store.checkSettleSignal({ id, workflowId, payload }));
    const answer = input === null ? null : await settle(session, input);
    if (answer?.result === 'refused') await refused(session, id, 'settle', answer.message);
  });
  setHandler(messages.definitionsChangedSignal, () => {
    session.definitions += 1;
  });
  setHandler(messages.ledgerChangedSignal, (payload) => {
    if (typeof payload?.key === 'string') session.settled.set(payload.key, 'changed');
  });
}

/**
 * Nothing that is sent by hand fails the workflow (D5): what cannot be carried out is refused and kept, like what is malformed. A signal
 * has no id of its own; it gets one here, in the order of the history.
 */
function onSignal<T>(session: Session, signal: SignalDefinition<[T]>, handle: (payload: T, id: string) => Promise<void>): void {
  setHandler(signal, async (payload) => {
    const id = uuid4();
    try {
      await handle(payload, id);
    } catch (error) {
      // A local activity's failure comes as it is, that of an ordinary one in an `ActivityFailure`.
      if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) throw error;
      await refused(session, id, signal.name, failureText(error));
    }
  });
}

async function refused(session: Session, id: string, kind: string, message: string): Promise<void> {
  await session.activity(() => store.noteRefusal({ id, workflowId: workflowInfo().workflowId, kind, message }));
}

/** Queues an input, hands it to the running turn, or gives it to the step that waits for it (D4). A known one changes nothing. */
function takeInput(session: Session, input: InputRef): InputAnswer {
  const into = session.running?.turnId;
  if (session.knows(input.turnId)) return { turnId: input.turnId, intoTurnId: input.turnId };
  if (into !== undefined && session.waitsForInput()) {
    session.answers.push(input.turnId);
    return { turnId: input.turnId, intoTurnId: into };
  }
  (into !== undefined && input.mode === 'steer' ? session.steered : session.queue).push(input.turnId);
  return { turnId: input.turnId, intoTurnId: input.turnId };
}

const NOT_ASKED = 'this is the conversation of a child agent; it takes input only while it waits for an answer';

function takesInput(session: Session): boolean {
  return !session.kind.oneTurn || session.waitsForInput();
}

function validateInput(session: Session, input: InputRef): void {
  if (!takesInput(session)) throw refusal('invalid_input', NOT_ASKED);
  if (typeof input?.turnId !== 'string' || input.turnId === '') throw refusal('invalid_input', 'submitInput needs { turnId } of a stored input');
}

function validateDecision(session: Session, input: DecideInput): void {
  const pending = session.pendingCalls().find(({ proposal }) => proposal.approvalId === input?.approvalId);
  if (pending === undefined) {
    if (session.decided.has(input?.approvalId)) return;
    throw refusal('unknown_approval', 'no approval of that id is waiting in this conversation; name the approval and its hash');
  }
  // An edit that made the newest version has the hash of the one before; its repeat is told so by the record (D23).
  if (pending.proposal.hash !== input.hash && input.decision !== 'edit') throw refusal('wrong_hash', `the hash is not that of version ${pending.proposal.version}; look at the proposal again`);
  if (pending.proposal.expiresAt <= Date.now()) throw refusal('expired', 'the time to decide has passed; nothing was done and nothing will be');
}

/** Credential, role and stored checks are made where the decision is stored; the first one wins there (D22). */
async function decide(session: Session, input: DecideInput): Promise<DecisionAnswer> {
  const asked = { ...input, workflowId: workflowInfo().workflowId };
  const { answer, proposal } = await session.activity(() => (input.decision === 'edit' ? edit(asked) : store.decide(asked)));
  if (answer.result === 'approved' || answer.result === 'rejected') session.decided.set(answer.approvalId, answer.result);
  const call = session.pendingCalls().find((pending) => pending.proposal.approvalId === input.approvalId)?.call;
  if (proposal !== null && call !== undefined) call.proposal = proposal;
  return answer;
}

/** An edit whose preview cannot be made changes nothing, and its sender is told so (D23). */
async function edit(input: DecideInput): Promise<DecideResult> {
  try {
    return await reading('edit of a proposal').editApproval(input);
  } catch (error) {
    return { answer: { result: 'refused', code: 'invalid_edit', message: `the edit could not be checked: ${failureText(error)}` }, proposal: null };
  }
}

async function cancel(session: Session, input: CancelInput, interrupt: Interrupt): Promise<CancelAnswer> {
  const turnId = input?.turnId ?? session.current();
  if (turnId === null) return { result: 'refused', message: 'no turn is running' };
  const answer = await session.activity(() => store.cancel({ ...input, turnId, workflowId: workflowInfo().workflowId }));
  if (answer.result === 'refused') return answer;
  const target = answer.turnId;
  // Also when the record says that it has ended: this step may have run before, and the turn must hear of it (D31).
  if (session.cancel(target)) interrupt();
  if (answer.result === 'already_ended') return answer;
  if (session.current() === target) return answer;
  session.drop(target);
  const status = await session.activity(() => store.end({ turnId: target, status: 'cancelled', reason: null }));
  return { ...answer, status };
}

async function settle(session: Session, input: SettleInput): Promise<SettleAnswer> {
  const answer = await session.activity(() => store.settle({ ...input, workflowId: workflowInfo().workflowId }));
  if (answer.result !== 'refused') session.settled.set(answer.key, answer);
  // Settled elsewhere or changed: the step that waits looks at it again.
  else if (session.unknown.has(input?.key)) session.settled.set(input.key, 'changed');
  return answer;
}

function refusal(code: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true });
}
