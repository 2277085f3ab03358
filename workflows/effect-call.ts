import { condition, isCancellation, sleep } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { EffectOutcome, ReconcileResult } from '../contracts/steps.js';
import { once, reading, store } from './activities.js';
import { withDefinition } from './definition.js';
import { Rollover } from './session.js';
import type { CallProgress, Session, TurnProgress } from './session.js';
import { failureText } from './turn.js';

/** Tries of which no byte left, before an effect is given up, and the waits between them in milliseconds (D35). */
const MAX_UNSENT = 5;
const UNSENT_WAIT_MS = [500, 1000, 2000, 4000];

/** How often an effect is looked at again whose target cannot be reached while it is unknown what an earlier try did. */
const UNREACHABLE_LOOK_MS = 30_000;

/** How long a call waits for a permit in all, in milliseconds; a cancel and the turn's deadline end it sooner (D27, D35). */
const PERMIT_PATIENCE_MS = 3_600_000;

/** A settlement whose news got lost on its way to the turn is read again after this time (D16). */
const RECHECK_MS = 600_000;

/** Takes an effect from its proposal to its settled end (D10, D13, D21). */
export async function runEffect(session: Session, turn: TurnProgress, call: CallProgress, scope: CancellationScope): Promise<void> {
  if (call.phase === 'start' && call.ref.needsApproval && !(await propose(session, call, scope))) return;
  if (call.phase === 'approval' && !(await waitForApproval(session, call))) return;
  if (turn.cancelled && call.phase !== 'open') return;
  if (call.phase !== 'open') call.phase = 'perform';
  await performUntilSettled(session, turn, call, scope);
}

/** Where a call goes on: what was sent in an earlier run is looked up before anything else (D13). */
const AFTER_PROPOSE = { proposed: 'approval', approved: 'perform', begun: 'open' } as const;

/** True when the call goes on from its `phase`, false when it is settled. */
async function propose(session: Session, call: CallProgress, scope: CancellationScope): Promise<boolean> {
  const { key, name } = call.ref;
  try {
    // A migration while it was made may have closed it or made the next version of it: the record knows (D34).
    for (let seen = -1; seen !== session.definitions;) {
      seen = session.definitions;
      const result = await withDefinition(session, key, () => session.activity(() => scope.run(() => reading(`proposal for ${name}`).propose({ key }))));
      if (result.kind === 'refused') return false;
      call.proposal = result.kind === 'proposed' ? result.proposal : null;
      call.phase = AFTER_PROPOSE[result.kind];
    }
    return true;
  } catch (error) {
    if (error instanceof Rollover) throw error;
    if (!isCancellation(error)) await session.activity(() => store.giveUpEffect({ key, reason: `The proposal could not be made: ${failureText(error)}` }));
    return false;
  }
}

/** True when the proposal was approved. Silence ends in `expired`; a decision that was stored in time stands (D24). */
async function waitForApproval(session: Session, call: CallProgress): Promise<boolean> {
  let leftMs: number | null = null;
  for (;;) {
    const { approvalId, version, expiresAt } = call.proposal!;
    const decided = () => session.decided.has(approvalId) || call.proposal!.version !== version;
    const inTime = await session.waitFor('waiting_approval', call.ref.key, `approval ${approvalId}`, decided, leftMs ?? expiresAt - Date.now());
    leftMs = null;
    const decision = session.decided.get(approvalId);
    if (decision !== undefined) return decision === 'approved';
    if (inTime && call.proposal!.version === version) return false;
    if (inTime) continue;
    const stands = await session.activity(() => store.expireApproval({ approvalId, version }));
    if (stands.state === 'approved') return true;
    if (stands.proposal === null) return false;
    call.proposal = stands.proposal;
    leftMs = stands.leftMs ?? null;
  }
}

async function performUntilSettled(session: Session, turn: TurnProgress, call: CallProgress, scope: CancellationScope): Promise<void> {
  let retryAfterMs = 0;
  for (;;) {
    if (call.phase === 'perform') {
      session.noteStatus();
      const outcome = await perform(session, call, scope);
      if (outcome.kind === 'settled') {
        turn.overBudget ??= outcome.overBudget ?? null;
        return;
      }
      if (outcome.kind === 'no_permit' && !turn.cancelled && waitsForPermit(session, call)) continue;
      call.permitUntilMs = null;
      retryAfterMs = outcome.kind === 'no_permit' ? 0 : outcome.retryAfterMs;
      call.phase = 'open';
      if (outcome.kind === 'not_sent' && !(await mayTryAgain(session, turn, call))) return;
      if (outcome.kind === 'no_permit' && !turn.cancelled && !(await giveUp(session, turn, call, { reason: noPermit(call) }))) return;
    }
    const next = await reconcile(session, call.ref.key);
    if (next.kind === 'settled' || !(await follow(session, turn, call, retryAfter(next, retryAfterMs)))) return;
  }
}

/** Whether it asks for a permit again. The time of the first refusal counts, in whichever run it was (D1). */
function waitsForPermit(session: Session, call: CallProgress): boolean {
  call.permitUntilMs ??= Date.now() + PERMIT_PATIENCE_MS;
  if (Date.now() >= call.permitUntilMs) return false;
  if (session.mustRollOver()) throw new Rollover();
  return true;
}

function noPermit({ ref: { name, maxConcurrent } }: CallProgress): string {
  return `All permits of the effect ${name} are used up (max_concurrent = ${maxConcurrent}): none came free within ${PERMIT_PATIENCE_MS / 60_000} minutes, because its earlier calls have not ended. It was not sent.`;
}

type Open = Exclude<ReconcileResult, { kind: 'settled' }> & { failed?: true };

/** Sending again waits at least as long as the target asked for; looking does not (D35). */
function retryAfter(next: Open, ms: number): Open {
  return next.kind === 'redispatch' ? { ...next, afterMs: Math.max(next.afterMs, ms) } : next;
}

/** A try that did not answer (its worker died, was frozen, or was cancelled before it began) is uncertain like any other. */
async function perform(session: Session, call: CallProgress, scope: CancellationScope): Promise<EffectOutcome> {
  const { key, timeoutMs, hasPrecondition, name, maxConcurrent } = call.ref;
  const permit = maxConcurrent === undefined ? {} : { permit: { effect: name, max: maxConcurrent } };
  try {
    return await withDefinition(session, key, () =>
      session.activity(() => scope.run(() => once(timeoutMs, `effect ${name}`).performEffect({ key, generation: call.generation, beforeMs: call.beforeMs, timeoutMs, hasPrecondition, ...permit }))));
  } catch (error) {
    if (error instanceof Rollover) throw error;
    return { kind: 'uncertain', retryAfterMs: 0 };
  }
}

/** A look that fails is repeated; under a cancel the effect is told as not known instead (D28). */
async function reconcile(session: Session, key: string): Promise<ReconcileResult & { failed?: true }> {
  try {
    return await withDefinition(session, key, () => session.activity(() => reading('look-up before anything else').reconcileEffect({ key, by: 'resume' })));
  } catch (error) {
    if (error instanceof Rollover) throw error;
    return { kind: 'look_again', afterMs: 5000, failed: true };
  }
}

/** Whether the loop goes on. A cancelled turn waits for no person and dispatches nothing; its open effects are told as they are (D28). */
async function follow(session: Session, turn: TurnProgress, call: CallProgress, next: Open): Promise<boolean> {
  if (next.kind === 'look_again') {
    if (turn.cancelled && next.failed === true) return false;
    await pause(session, next.afterMs);
    if (session.mustRollOver()) throw new Rollover();
    return true;
  }
  if (turn.cancelled) return endUndone(session, call, next);
  if (next.kind === 'unknown') return waitForSettlement(session, turn, call, next.lookAgainMs);
  await holdOff(session, turn, next.afterMs);
  if (turn.cancelled) return endUndone(session, call, next);
  // A try that failed before its claim is counted like one that could not be sent, so that this ends.
  if (next.generation === null && !(await mayTryAgain(session, turn, call))) return false;
  call.generation = next.generation;
  call.beforeMs = next.beforeMs;
  call.phase = 'perform';
  return true;
}

async function waitForSettlement(session: Session, turn: TurnProgress, call: CallProgress, lookAgainMs: number | null): Promise<boolean> {
  const { key, name } = call.ref;
  session.unknown.add(key);
  try {
    await session.waitFor('waiting_unknown', key, `it is not known whether ${name} was done: ledger entry ${key}`, () => session.settled.has(key), lookAgainMs ?? RECHECK_MS);
  } finally {
    session.unknown.delete(key);
  }
  const settled = session.settled.get(key);
  session.settled.delete(key);
  if (turn.cancelled) return false;
  if (settled !== undefined && settled !== 'changed' && settled.result === 'retrying') {
    call.generation = settled.generation;
    // A person who knows the target permits it, whatever the target may have forgotten (D16).
    call.beforeMs = null;
    call.phase = 'perform';
  }
  return true;
}

/** Under a cancel nothing is dispatched again; what a look-up proved not to have happened is recorded as not done (D28). */
async function endUndone(session: Session, call: CallProgress, next: Open): Promise<false> {
  if (next.kind === 'redispatch' && next.generation !== null) {
    await session.activity(() => store.giveUpEffect({ key: call.ref.key, reason: 'It was cancelled before it was done.' }));
  }
  return false;
}

/** A durable wait that also runs to its end under a cancel, so that the response can tell what happened. */
async function pause(session: Session, ms: number): Promise<void> {
  if (ms > 0) await session.activity(() => sleep(ms));
}

/** A durable wait before something is sent again; a cancel ends it, because then nothing is (D27). */
async function holdOff(session: Session, turn: TurnProgress, ms: number): Promise<void> {
  if (ms > 0) await session.activity(() => condition(() => turn.cancelled, ms));
}

/** False when it ends here. */
async function mayTryAgain(session: Session, turn: TurnProgress, call: CallProgress): Promise<boolean> {
  call.unsent += 1;
  if (turn.cancelled || call.unsent >= MAX_UNSENT) {
    const why = turn.cancelled ? { reason: 'It was cancelled before anything was sent.' } : { tries: call.unsent };
    return giveUp(session, turn, call, why);
  }
  await holdOff(session, turn, UNSENT_WAIT_MS[call.unsent - 1] ?? 0);
  return true;
}

/** False when it ends here. What an earlier try may have done is no matter of giving up: a person is asked (D13, D16). */
async function giveUp(session: Session, turn: TurnProgress, call: CallProgress, why: { reason: string } | { tries: number }): Promise<boolean> {
  const { settled } = await session.activity(() => store.giveUpEffect({ key: call.ref.key, ...why }));
  return !settled && !turn.cancelled && waitForSettlement(session, turn, call, UNREACHABLE_LOOK_MS);
}
