import { z } from 'zod';
import { decisionSchema } from '../contracts/approval.js';
import type { DecisionAnswer, DecisionRefusal } from '../contracts/approval.js';
import type { JsonObject } from '../contracts/json.js';
import type { DecideInput, DecideResult } from '../contracts/steps.js';
import { parseArguments } from '../domain/arguments.js';
import { mayDecide } from '../domain/approval.js';
import { expireProposal, recordDecision } from '../store/proposal/decide.js';
import { editProposal } from '../store/proposal/edit.js';
import { loadProposal } from '../store/proposal/load.js';
import type { ProposalRow } from '../store/proposal/load.js';
import type { ActivityDeps } from './deps.js';
import { newProposal, previewOf } from './propose.js';
import { schemaProblem } from './schema.js';

const verdictSchema = decisionSchema.omit({ args: true }).extend({ decision: z.enum(['approve', 'reject']) });

/** Records an approval or a rejection; every check that needs more than workflow state is here (D5, D22, D23). */
export async function decide(deps: ActivityDeps, input: DecideInput): Promise<DecideResult> {
  const parsed = verdictSchema.safeParse(input);
  if (!parsed.success) return refused('invalid_input', parsed.error.issues[0]?.message ?? 'the decision is malformed');
  const by = deps.principal(input.as);
  const { hash, decision, reason } = parsed.data;
  const answer = await recordDecision(deps.pool, { approvalId: input.approvalId, hash, decision, reason: reason ?? null, by });
  return { answer, proposal: null };
}

/** An edit approves nothing: it returns a new version and hash, checked against the schema and policy of the same effect (D23). */
export async function editApproval(deps: ActivityDeps, input: DecideInput): Promise<DecideResult> {
  const current = await loadProposal(deps.pool, input.approvalId, false);
  const problem = editProblem(deps, current, input);
  if (problem !== null || current === null) return problem ?? refused('unknown_approval', 'there is no such approval');
  const parsed = parseArguments(input.argsJson ?? '');
  if (!parsed.ok) return refused('invalid_edit', parsed.problem);
  return storeEdit(deps, current, input.hash, parsed.args, deps.principal(input.as).user);
}

function editProblem(deps: ActivityDeps, current: ProposalRow | null, input: DecideInput): DecideResult | null {
  if (current === null) return refused('unknown_approval', `there is no approval ${input.approvalId}`);
  if (current.hash !== input.hash) return refused('wrong_hash', `the hash is not that of version ${current.version}; look at the proposal again`);
  if (current.state === 'approved' || current.state === 'rejected') return refused('already_decided', `the proposal is already ${current.state}`);
  if (current.state === 'expired' || current.expired) return refused('expired', 'the time to decide has passed');
  if (current.turnOver || current.state !== 'pending') return refused('turn_finished', 'the turn has ended or is being cancelled');
  const notPermitted = mayDecide({ ...current, requesterMayApprove: true }, deps.principal(input.as));
  return notPermitted === null ? null : refused('not_permitted', notPermitted);
}

async function storeEdit(deps: ActivityDeps, current: ProposalRow, basedOn: string, args: JsonObject, editor: string): Promise<DecideResult> {
  const effect = (await deps.definition(current.definitionDigest)).effects.find((candidate) => candidate.name === current.effect);
  if (effect === undefined) return refused('invalid_edit', `the effect ${current.effect} is not in the turn's definition`);
  const schemaError = schemaProblem(effect.inputSchema, args);
  if (schemaError !== null) return refused('invalid_edit', `the edited arguments do not fit: ${schemaError}`);
  const preview = await previewOf(deps, effect, current.key, args);
  if (preview.kind === 'refused') return refused('invalid_edit', preview.message);
  const version = current.version + 1;
  const proposal = newProposal(effect, { key: current.key, turnId: current.turnId, version, args, diff: preview.diff, requester: current.requester, editedBy: editor });
  const stored = await editProposal(deps.pool, basedOn, proposal);
  if (stored === null) return refused('already_decided', 'the proposal was decided or changed meanwhile; look at it again');
  return { answer: { result: 'edited', approvalId: stored.approvalId, version: stored.version, hash: stored.hash }, proposal: stored };
}

/** Ends a proposal at its deadline; the answer is what stands (D24). */
export async function expireApproval(deps: ActivityDeps, input: { approvalId: string; version: number }): Promise<string> {
  return expireProposal(deps.pool, input.approvalId, input.version);
}

function refused(code: DecisionRefusal, message: string): DecideResult {
  const answer: DecisionAnswer = { result: 'refused', code, message };
  return { answer, proposal: null };
}
