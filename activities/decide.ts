import { z } from 'zod';
import type { DecisionAnswer, DecisionRefusal } from '../contracts/approval.js';
import type { JsonObject } from '../contracts/json.js';
import { decideSignalSchema } from '../contracts/signals.js';
import type { DecideInput, DecideResult, ExpireResult, ProposalRef } from '../contracts/steps.js';
import { effectOf } from '../domain/effect-of.js';
import { parseArguments } from '../domain/arguments.js';
import { mayDecide } from '../domain/approval.js';
import { digestOf } from '../store/hash.js';
import { expireProposal, recordDecision } from '../store/proposal/decide.js';
import { editProposal } from '../store/proposal/edit.js';
import { loadProposal } from '../store/proposal/load.js';
import type { ProposalRow } from '../store/proposal/load.js';
import type { ActivityDeps } from './deps.js';
import { newProposal, previewOf, toProposalRef } from './propose.js';
import { schemaProblem } from './schema.js';

/** Records an approval or a rejection; every check that needs more than workflow state is here (D5, D22, D23). */
export async function decide(deps: ActivityDeps, input: DecideInput): Promise<DecideResult> {
  const malformed = problemOf(input);
  if (malformed !== null || input.decision === 'edit') return refused('invalid_input', malformed ?? 'an edit is not a verdict');
  const { approvalId, hash, decision, reason = null, workflowId = '' } = input;
  const answer = await recordDecision(deps.pool, { approvalId, hash, decision, reason, workflowId, by: deps.principal(input.as) });
  return { answer, proposal: null };
}

function argumentsOf({ argsJson, args }: DecideInput): string | undefined {
  return argsJson ?? (args === undefined ? undefined : JSON.stringify(args));
}

/** What is wrong with a decision's form, whoever sent it: an SDK's update reaches this unchecked. */
function problemOf(input: DecideInput): string | null {
  const parsed = decideSignalSchema.safeParse(input);
  if (!parsed.success) return z.prettifyError(parsed.error).slice(0, 500);
  if (input.argsJson !== undefined && typeof input.argsJson !== 'string') return 'argsJson must be text';
  return (input.decision === 'edit') === (argumentsOf(input) !== undefined) ? null : 'an edit needs the new arguments, and only an edit takes arguments';
}

/** An edit approves nothing: it returns a new version and hash, checked against the schema and policy of the same effect (D23). */
export async function editApproval(deps: ActivityDeps, input: DecideInput): Promise<DecideResult> {
  const malformed = problemOf(input);
  if (malformed !== null) return refused('invalid_input', malformed);
  const parsed = parseArguments(argumentsOf(input) ?? '');
  if (!parsed.ok) return refused('invalid_edit', parsed.problem);
  const current = await loadProposal(deps.pool, input.approvalId, false);
  if (current === null) return refused('unknown_approval', `there is no approval ${input.approvalId}`);
  if (current.basedOn === input.hash && current.argsDigest === digestOf(parsed.args)) return edited(toProposalRef(current));
  const problem = editProblem(deps, current, input);
  if (problem !== null) return problem;
  return storeEdit(deps, current, input.hash, parsed.args, deps.principal(input.as).user);
}

function editProblem(deps: ActivityDeps, current: ProposalRow, input: DecideInput): DecideResult | null {
  if (current.workflowId !== input.workflowId) return refused('unknown_approval', `the approval waits in the workflow ${current.workflowId}; decide there`);
  if (current.hash !== input.hash) return refused('wrong_hash', `the hash is not that of version ${current.version}; look at the proposal again`);
  if (current.state === 'approved' || current.state === 'rejected') return refused('already_decided', `the proposal is already ${current.state}`);
  if (current.state === 'expired' || current.expired) return refused('expired', 'the time to decide has passed');
  if (current.turnOver || current.state !== 'pending') return refused('turn_finished', 'the turn has ended or is being cancelled');
  const notPermitted = mayDecide(current, 'edit', deps.principal(input.as));
  return notPermitted === null ? null : refused('not_permitted', notPermitted);
}

async function storeEdit(deps: ActivityDeps, current: ProposalRow, basedOn: string, args: JsonObject, editor: string): Promise<DecideResult> {
  const effect = effectOf(await deps.definition(current.definitionDigest), current.effect);
  if (effect === undefined) return refused('invalid_edit', `the effect ${current.effect} is not in the turn's definition`);
  const schemaError = schemaProblem(effect.inputSchema, args);
  if (schemaError !== null) return refused('invalid_edit', `the edited arguments do not fit: ${schemaError}`);
  const preview = await previewOf(deps, effect, current.key, args);
  if (preview.kind === 'refused') return refused('invalid_edit', preview.message);
  const version = current.version + 1;
  const proposal = newProposal(effect, { key: current.key, turnId: current.turnId, version, args, diff: preview.diff, requester: current.requester, editedBy: editor, definitionDigest: current.definitionDigest });
  const stored = await editProposal(deps.pool, basedOn, proposal);
  if (stored === null) return refused('already_decided', 'the proposal was decided or changed meanwhile; look at it again');
  return edited(stored);
}

function edited(proposal: ProposalRef): DecideResult {
  return { answer: { result: 'edited', approvalId: proposal.approvalId, version: proposal.version, hash: proposal.hash }, proposal };
}

/**
 * Ends a proposal at its deadline; the answer is what stands (D24). A version that replaced it goes on under its own deadline (D23), and one
 * whose deadline has not come by the database's clock goes on until it has.
 */
export async function expireApproval(deps: ActivityDeps, input: { approvalId: string; version: number }): Promise<ExpireResult> {
  const state = await expireProposal(deps.pool, input.approvalId, input.version);
  if (state !== 'superseded' && state !== 'pending') return { state, proposal: null };
  const newest = await loadProposal(deps.pool, input.approvalId, false);
  return newest === null ? { state, proposal: null } : { state, proposal: toProposalRef(newest), leftMs: newest.leftMs };
}

function refused(code: DecisionRefusal, message: string): DecideResult {
  const answer: DecisionAnswer = { result: 'refused', code, message };
  return { answer, proposal: null };
}
