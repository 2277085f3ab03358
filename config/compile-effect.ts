import type { EffectConfig } from '../contracts/config.js';
import type { ApprovalPolicy, EffectDefinition } from '../contracts/effect.js';

/** The pinned form of an effect (D34). */
export function compileEffect(name: string, effect: EffectConfig): EffectDefinition {
  const { idempotency, lookup } = effect;
  return {
    name,
    type: effect.type,
    description: effect.description ?? `Performs "${name.replaceAll(/[_-]+/g, ' ')}".`,
    inputSchema: effect.input_schema,
    sequential: effect.sequential,
    timeoutMs: effect.timeout,
    http: { method: effect.method, url: effect.url, headersEnv: effect.headers_env, resultId: effect.result_id ?? null, rejects: effect.rejects },
    idempotency: idempotency === undefined ? null : { header: idempotency.header, retentionMs: idempotency.retention, onMismatch: idempotency.on_mismatch },
    lookup: lookup === undefined ? null : { url: lookup.url, absence: lookup.absence, settleAfterMs: lookup.settle_after, everyMs: lookup.every },
    correlation: compileCorrelation(effect.correlation),
    unknown: compileUnknown(effect.unknown.retry),
    approval: compileApproval(effect.approval),
  };
}

function compileCorrelation(correlation: EffectConfig['correlation']): EffectDefinition['correlation'] {
  if (correlation?.header !== undefined) return { header: correlation.header };
  return correlation?.field === undefined ? null : { field: correlation.field };
}

function compileUnknown(retry: EffectConfig['unknown']['retry']): EffectDefinition['unknown'] {
  return retry === 'never' ? { retry } : { retry: 'bounded', maxAttempts: retry.max_attempts, everyMs: retry.every };
}

function compileApproval(approval: EffectConfig['approval']): ApprovalPolicy | null {
  if (approval === undefined || !approval.required) return null;
  return {
    expiresInMs: approval.expires_in,
    roles: approval.roles,
    approvers: approval.approvers,
    // `dev` auth is the only mode of this version, and in it the requester may approve (I5).
    requesterMayApprove: approval.requester_may_approve ?? true,
    attempts: approval.attempts,
    preview: approval.preview ?? null,
    precondition: approval.precondition ?? null,
  };
}
