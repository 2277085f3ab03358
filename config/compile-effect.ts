import type { EffectConfig } from '../contracts/config.js';
import { UNDO_ARGS } from '../contracts/config-effect.js';
import type { ApprovalPolicy, EffectDefinition, Idempotency, Lookup, McpTarget, Question } from '../contracts/effect.js';
import { isCall } from '../contracts/sql-template.js';

type Common = Pick<EffectDefinition, 'name' | 'description' | 'inputSchema' | 'sequential' | 'timeoutMs' | 'maxConcurrent' | 'unknown' | 'approval' | 'compensates' | 'compensatedBy'>;

/** A database keeps its marker rows for ever; a number that JSON holds. */
const FOR_EVER_MS = 100 * 365 * 86_400_000;
const DATABASE_LOOKUP: Lookup = { absence: 'authoritative', settleAfterMs: 0, everyMs: 30_000 };

/** The pinned form of an effect (D34). */
export function compileEffect(name: string, effect: EffectConfig, compensatedBy: string | null): EffectDefinition {
  const common: Common = {
    name,
    description: effect.description ?? `Performs "${name.replaceAll(/[_-]+/g, ' ')}".`,
    inputSchema: effect.input_schema,
    sequential: effect.sequential,
    timeoutMs: effect.timeout,
    maxConcurrent: effect.max_concurrent ?? null,
    unknown: compileUnknown(effect.unknown.retry),
    approval: compileApproval(effect.approval),
    compensates: effect.compensates === undefined ? null : { effect: effect.compensates, ...(effect.compensation ?? { args: UNDO_ARGS, automatic: [] }) },
    compensatedBy,
  };
  switch (effect.type) {
    case 'http':
      return compileHttp(common, effect);
    case 'postgres':
      return compilePostgres(common, effect);
    case 'smtp':
      return {
        ...common, type: 'smtp', idempotency: null, lookup: null,
        smtp: { host: effect.host, port: effect.port, security: effect.security, userEnv: effect.user_env ?? null, passwordEnv: effect.password_env ?? null, from: effect.from },
      };
    case 'mcp':
      return compileMcp(common, effect);
    case 'function':
      return {
        ...common, type: 'function', function: { module: effect.module, export: effect.export },
        idempotency: compileIdempotency(effect.idempotency), lookup: compileLookup(effect.lookup),
      };
  }
}

type Of<T extends EffectConfig['type']> = Extract<EffectConfig, { type: T }>;

function compileHttp(common: Common, effect: Of<'http'>): EffectDefinition {
  const idempotency = compileIdempotency(effect.idempotency);
  const lookup = compileLookup(effect.lookup);
  return {
    ...common,
    type: 'http',
    http: { method: effect.method, url: effect.url, headersEnv: effect.headers_env, resultId: effect.result_id ?? null, rejects: effect.rejects },
    idempotency: idempotency && { header: effect.idempotency!.header, ...idempotency },
    lookup: lookup && { url: effect.lookup!.url, ...lookup },
    correlation: compileCorrelation(effect.correlation),
  };
}

/** In the ledger's own database there is no second copy to compare; elsewhere a marker row, written with the change, is found by key (D18). */
function compilePostgres(common: Common, effect: Of<'postgres'>): EffectDefinition {
  const dsnEnv = effect.dsn_env ?? null;
  return {
    ...common, type: 'postgres',
    postgres: { dsnEnv, statement: effect.statement, resultId: effect.result_id ?? null, minRows: effect.min_rows ?? (isCall(effect.statement) ? 0 : 1) },
    idempotency: { retentionMs: FOR_EVER_MS, onMismatch: 'conflict' }, lookup: DATABASE_LOOKUP,
  };
}

function compileMcp(common: Common, effect: Of<'mcp'>): EffectDefinition {
  const server: McpTarget['server'] = effect.url === undefined
    ? { command: effect.command ?? '', args: effect.args, env: effect.env }
    : { url: effect.url, headersEnv: effect.headers_env };
  const idempotency = compileIdempotency(effect.idempotency);
  const lookup = compileLookup(effect.lookup);
  return {
    ...common, type: 'mcp', mcp: { server, tool: effect.tool ?? common.name, resultId: effect.result_id ?? null, errors: effect.errors },
    idempotency: idempotency && { argument: effect.idempotency!.argument, ...idempotency },
    lookup: lookup && { tool: effect.lookup!.tool, args: effect.lookup!.args, ...lookup },
    correlation: effect.correlation ?? null,
  };
}

function compileIdempotency(idempotency: { retention: number; on_mismatch: Idempotency['onMismatch'] } | undefined): Idempotency | null {
  return idempotency === undefined ? null : { retentionMs: idempotency.retention, onMismatch: idempotency.on_mismatch };
}

function compileLookup(lookup: { absence: Lookup['absence']; settle_after: number; every: number } | undefined): Lookup | null {
  return lookup === undefined ? null : { absence: lookup.absence, settleAfterMs: lookup.settle_after, everyMs: lookup.every };
}

function compileCorrelation(correlation: Of<'http'>['correlation']): { header: string } | { field: string } | null {
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
    preview: approval.preview === undefined ? null : compileQuestion(approval.preview),
    precondition: approval.precondition === undefined ? null : { ...compileQuestion(approval.precondition), expect: approval.precondition.expect },
  };
}

function compileQuestion({ url, query }: { url?: string | undefined; query?: string | undefined }): Question {
  if (url !== undefined) return { url };
  return query === undefined ? { function: true } : { query };
}
