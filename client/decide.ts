import { decisionSchema, type ApprovalView, type Decision, type DecisionAnswer, type DecisionRefusal } from '../contracts/approval.js';
import { userSchema } from '../contracts/principal.js';
import type { DecideInput } from '../contracts/steps.js';
import { parseArguments } from '../domain/arguments.js';
import { canonicalJson } from '../domain/canonical.js';
import { approvalVersions } from '../store/views/approvals.js';
import { approvalRoute } from '../store/views/routes.js';
import { submitDecisionUpdate } from '../workflows/messages.js';
import { BackOff } from './back-off.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { HoldfastError } from './errors.js';
import { freshUpdateId } from './ids.js';
import { parseInput } from './parse.js';

/** How long a stored proposal may be unknown to its workflow: as long as it takes to replace the worker that stored it (D1). */
const NOT_YET_MS = 30_000;

const REFUSALS: readonly string[] = [
  'unknown_approval', 'wrong_hash', 'expired', 'already_decided', 'turn_finished', 'not_permitted', 'invalid_edit', 'invalid_input',
] satisfies DecisionRefusal[];

/**
 * Decides about one version of a proposal (D22). A refusal is an answer, not an error.
 * @throws HoldfastError `no_worker`, `unreachable`
 */
export async function decide(context: ClientContext, approvalId: string, input: Decision & { as: string }): Promise<DecisionAnswer> {
  const { as: name, ...rest } = input;
  const as = parseInput(userSchema, name, 'The name of the person');
  const decision = parseInput(decisionSchema, rest, 'The decision');
  if ((decision.decision === 'edit') !== (decision.args !== undefined)) {
    return refusal('invalid_input', 'An edit needs the new arguments, and only an edit takes arguments.');
  }
  const edit = decision.args === undefined ? null : parseArguments(JSON.stringify(decision.args));
  if (edit?.ok === false) return refusal('invalid_edit', edit.problem);
  const route = await approvalRoute(context.pool, approvalId);
  if (route === null) return refusal('unknown_approval', `There is no approval ${JSON.stringify(approvalId.slice(0, 300))}.`);
  if (route.ended) return storedAnswer(context, approvalId, decision, as);
  const message: DecideInput = {
    approvalId, hash: decision.hash, decision: decision.decision, as,
    ...(edit === null ? {} : { argsJson: edit.canonical }),
    ...(decision.reason === undefined ? {} : { reason: decision.reason }),
  };
  return ask(context, route.workflowId, message, decision, as);
}

/**
 * Asks the workflow. It knows only what waits now: for a proposal that it does not know, the record answers. A proposal is stored
 * a moment before its workflow waits for it, so that a quick person is asked to be patient for a moment, not refused.
 */
async function ask(context: ClientContext, workflowId: string, message: DecideInput, decision: Decision, as: string): Promise<DecisionAnswer> {
  const updateOptions = { args: [message] as [DecideInput], updateId: freshUpdateId('decide') };
  const handle = context.temporal.workflow.getHandle(workflowId);
  const deadline = Date.now() + NOT_YET_MS;
  const backOff = new BackOff(20, 250);
  for (;;) {
    const outcome = await callTemporal(context, workflowId, () => handle.executeUpdate(submitDecisionUpdate, updateOptions));
    if (outcome.kind === 'answered') return outcome.value;
    if (outcome.kind === 'refused' && outcome.code !== 'unknown_approval') return refusal(isRefusal(outcome.code) ? outcome.code : 'invalid_input', outcome.message);
    const recorded = await storedAnswer(context, message.approvalId, decision, as);
    const undecided = outcome.kind === 'refused' && recorded.result === 'refused' && recorded.code === 'turn_finished';
    if (!undecided || !(await turnGoesOn(context, message.approvalId))) return recorded;
    if (Date.now() >= deadline) {
      throw new HoldfastError('no_worker', `The workflow of approval ${message.approvalId} has not come to it within ${NOT_YET_MS / 1000} s. Nothing was decided; see that a worker runs ("holdfast worker"), then decide again.`);
    }
    await backOff.wait(deadline);
  }
}

async function turnGoesOn(context: ClientContext, approvalId: string): Promise<boolean> {
  const route = await approvalRoute(context.pool, approvalId);
  return route !== null && !route.ended && route.status !== 'cancelling';
}

/** Where the workflow cannot answer, the stored decisions do (D2). */
async function storedAnswer(context: ClientContext, approvalId: string, decision: Decision, as: string): Promise<DecisionAnswer> {
  return answerFromRecord(await approvalVersions(context.pool, approvalId), decision, as);
}

/** The answer that the stored versions and decisions give to a late or repeated decision (D22, D24). */
export function answerFromRecord(versions: ApprovalView[], decision: Decision, as: string): DecisionAnswer {
  const version = versions.find((v) => v.hash === decision.hash);
  if (version === undefined) return refusal('wrong_hash', 'No version of this proposal has this hash. Show the approval again and decide on what it says now.');
  const next = versions.find((v) => v.version === version.version + 1);
  if (decision.args !== undefined && next !== undefined && canonicalJson(next.args) === canonicalJson(decision.args)) {
    return { result: 'edited', approvalId: next.id, version: next.version, hash: next.hash };
  }
  const own = version.decisions.find((d) => d.by === as);
  if (own !== undefined && own.decision === decision.decision) {
    const result = own.decision === 'reject' ? 'rejected' : version.state === 'approved' ? 'approved' : 'recorded';
    return { result, approvalId: version.id, version: version.version, hash: version.hash };
  }
  if (own !== undefined || version.state === 'approved' || version.state === 'rejected') {
    return refusal('already_decided', `This proposal is ${version.state} (${version.decisions.map((d) => `${d.decision} by ${d.by}`).join(', ')}).`);
  }
  if (version.state === 'expired') return refusal('expired', `This proposal expired at ${version.expiresAt}; nothing was run.`);
  if (version.state === 'superseded') return refusal('wrong_hash', 'A newer version replaced this one. Show the approval again and decide on what it says now.');
  return refusal('turn_finished', 'The turn of this proposal no longer runs; nothing was run.');
}

function isRefusal(code: string): code is DecisionRefusal {
  return REFUSALS.includes(code);
}

function refusal(code: DecisionRefusal, message: string): DecisionAnswer {
  return { result: 'refused', code, message };
}
