import type { DiffLine } from '../contracts/approval.js';
import type { ApprovalPolicy, EffectDefinition } from '../contracts/effect.js';
import type { JsonObject } from '../contracts/json.js';
import type { ProposalRef, ProposeResult } from '../contracts/steps.js';
import { diffOf, proposalText } from '../domain/approval.js';
import { effectOf } from '../domain/effect-of.js';
import { approvalIdOf } from '../domain/keys.js';
import { digestOf, sha256Hex } from '../store/hash.js';
import { refuseEffect } from '../store/ledger/reconcile.js';
import { createProposal } from '../store/proposal/create.js';
import type { NewProposal } from '../store/proposal/create.js';
import { loadProposal } from '../store/proposal/load.js';
import type { ProposalRow } from '../store/proposal/load.js';
import { loadCall, loadTurnContext } from '../store/turn/context.js';
import { callSignal } from './beat.js';
import type { ActivityDeps } from './deps.js';

/** Limit of a preview, in milliseconds. */
const PREVIEW_TIMEOUT_MS = 10_000;

/**
 * Freezes an effect as version 1 of a proposal: what is stored here is what is shown and what will run (D21). A repeat finds the newest version, or
 * what has become of it: a run that takes the turn up after another one was ended from outside asks for no second approval (D13).
 */
export async function propose(deps: ActivityDeps, input: { key: string }): Promise<ProposeResult> {
  const call = await loadCall(deps.pool, input.key);
  if (call === null) throw new Error(`effect ${input.key} is not stored`);
  if (call.state === 'dispatched' || call.state === 'unknown') return { kind: 'begun' };
  // It was rejected, or a migration has closed it: its result is stored (D34).
  if (call.state !== 'pending') return { kind: 'refused' };
  const made = await loadProposal(deps.pool, approvalIdOf(input.key), false);
  if (made !== null) return made.state === 'approved' ? { kind: 'approved' } : { kind: 'proposed', proposal: toProposalRef(made) };
  const { definitionDigest } = call;
  const context = await loadTurnContext(deps.pool, call.turnId, { priorLimit: 0, fromStep: call.step, workItems: 0 });
  const effect = effectOf(await deps.definition(definitionDigest), call.name);
  if (effect?.approval == null) throw new Error(`effect ${call.name} asks for no approval`);
  const preview = await previewOf(deps, effect, input.key, call.args);
  if (preview.kind === 'refused') {
    await refuseEffect(deps.pool, input.key, preview.message);
    return { kind: 'refused' };
  }
  const proposal = newProposal(effect, { key: input.key, turnId: call.turnId, version: 1, args: call.args, diff: preview.diff, requester: context.requester, editedBy: null, definitionDigest });
  return { kind: 'proposed', proposal: await createProposal(deps.pool, proposal) };
}

export async function previewOf(
  deps: ActivityDeps, effect: EffectDefinition, key: string, args: JsonObject,
): Promise<{ kind: 'diff'; diff: DiffLine[] } | { kind: 'refused'; message: string }> {
  if (effect.approval?.preview == null) return { kind: 'diff', diff: diffOf({}, args) };
  const call = { effect, key, physicalCallId: '', args };
  const preview = await deps.adapterOf(effect).preview(call, callSignal(PREVIEW_TIMEOUT_MS));
  return preview.kind === 'refused' ? preview : { kind: 'diff', diff: diffOf(preview.before, preview.after) };
}

export interface ProposalParts {
  key: string;
  turnId: string;
  version: number;
  args: JsonObject;
  diff: DiffLine[];
  requester: string;
  editedBy: string | null;
  definitionDigest: string;
}

export function newProposal(effect: EffectDefinition, parts: ProposalParts): NewProposal {
  const policy = effect.approval as ApprovalPolicy;
  const approvalId = approvalIdOf(parts.key);
  return {
    ...parts, approvalId, hash: sha256Hex(proposalText(approvalId, parts.version, effect, parts.args)), argsDigest: digestOf(parts.args),
    expiresInMs: policy.expiresInMs, approvers: policy.approvers, roles: policy.roles, requesterMayApprove: policy.requesterMayApprove,
  };
}

export function toProposalRef({ approvalId, version, hash, expiresAt }: ProposalRow): ProposalRef {
  return { approvalId, version, hash, expiresAt: expiresAt.getTime() };
}
