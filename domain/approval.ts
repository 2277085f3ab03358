import type { Decision, DiffLine } from '../contracts/approval.js';
import type { ApprovalPolicy, EffectDefinition } from '../contracts/effect.js';
import type { Json, JsonObject } from '../contracts/json.js';
import type { Principal } from '../contracts/principal.js';
import { canonicalJson } from './canonical.js';

/** Why a person may not decide, or null (D22, D26). The rule about the requester is about approving: anyone with the role may stop or change it. */
export function mayDecide(proposal: { roles: string[]; requester: string; requesterMayApprove: boolean }, decision: Decision['decision'], by: Principal): string | null {
  if (!proposal.roles.some((role) => by.roles.some((held) => held === role || held === 'admin'))) return `one of these roles is needed: ${proposal.roles.join(', ')}`;
  if (decision === 'approve' && !proposal.requesterMayApprove && by.user === proposal.requester) return 'the person who asked for it may not approve it';
  return null;
}

/**
 * The text that a proposal's hash covers (D21): which intent and version, what runs with which arguments against which target, under which
 * conditions and policy. Nothing cosmetic is in it, so the same meaning has the same hash and any change of meaning has another.
 */
export function proposalText(id: string, version: number, effect: EffectDefinition, args: JsonObject): string {
  const policy = effect.approval as ApprovalPolicy;
  return canonicalJson({
    id, version, action: effect.name, type: effect.type, target: targetOf(effect), args,
    precondition: policy.precondition === null ? null : { ...policy.precondition },
    policy: { approvers: policy.approvers, attempts: policy.attempts, requesterMayApprove: policy.requesterMayApprove, roles: [...policy.roles].sort() },
  });
}

/** Where the effect happens and by what: the part of a target whose change changes the meaning of an approval. */
function targetOf(effect: EffectDefinition): JsonObject {
  switch (effect.type) {
    case 'http':
      return { method: effect.http.method, url: effect.http.url };
    case 'postgres':
      return { database: effect.postgres.dsnEnv, statement: effect.postgres.statement };
    case 'smtp':
      return { host: effect.smtp.host, port: effect.smtp.port, from: effect.smtp.from };
    case 'mcp':
      return { ...('url' in effect.mcp.server ? { url: effect.mcp.server.url } : { command: effect.mcp.server.command, args: effect.mcp.server.args }), tool: effect.mcp.tool };
    case 'function':
      return { ...effect.function };
  }
}

/** Differences first, field by field; fields that stay the same are left out (D21). */
export function diffOf(before: JsonObject, after: JsonObject): DiffLine[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return fields
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((line) => !same(line.before, line.after));
}

function same(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
