import type { JsonObject } from './json.js';
import type { FinalStatus } from './turn.js';

/**
 * An effect as pinned with its agent (D34). Times in milliseconds. Secrets are named by environment variable only. Its type says which
 * adapter performs it (D20) and which fields describe its target.
 */
export type EffectDefinition = HttpEffect | PostgresEffect | SmtpEffect | McpEffect | FunctionEffect;

interface EffectBase {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** Never in parallel with other calls of the same reply (D6). */
  sequential: boolean;
  /** Limit of one physical call, from the claim to the last byte of the answer. */
  timeoutMs: number;
  /** Calls that one worker runs at once; null: no limit (D27). */
  maxConcurrent: number | null;
  idempotency: Idempotency | null;
  lookup: Lookup | null;
  unknown: { retry: 'never' } | { retry: 'bounded'; maxAttempts: number; everyMs: number };
  approval: ApprovalPolicy | null;
  /** What it undoes, and when by itself (D29). */
  compensates: Compensation | null;
  /** The effect that undoes it. */
  compensatedBy: string | null;
}

/**
 * An effect that undoes another one is a new effect of its own (D29). `args` are its arguments, in which `{external_id}` and the names of the
 * undone effect's arguments stand for their values. `automatic`: ends of a turn after which it is begun without a person.
 */
export interface Compensation {
  effect: string;
  args: JsonObject;
  automatic: FinalStatus[];
}

/** The target acts once per key while it remembers the key (D13, D14). */
export interface Idempotency {
  retentionMs: number;
  onMismatch: 'conflict' | 'ignored';
}

/** The target can be asked what happened (D13). `everyMs`: how often an unknown entry is looked up again. */
export interface Lookup {
  absence: 'authoritative' | 'eventual';
  settleAfterMs: number;
  everyMs: number;
}

export interface HttpEffect extends EffectBase {
  type: 'http';
  http: HttpTarget;
  idempotency: (Idempotency & { header: string }) | null;
  lookup: (Lookup & { url: string }) | null;
  /** How a system without idempotency keys carries our key, so that a look-up can find it. */
  correlation: { header: string } | { field: string } | null;
}

export interface HttpTarget {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  /** Header name → environment variable that holds its value. */
  headersEnv: Record<string, string>;
  /** Field of the answer that is the external id. */
  resultId: string | null;
  /** Status codes by which the target declares that it rejected the call and nothing happened (D10). */
  rejects: number[];
}

/** A statement in a PostgreSQL database of the application (D18). */
export interface PostgresEffect extends EffectBase {
  type: 'postgres';
  postgres: PostgresTarget;
}

export interface PostgresTarget {
  /** Environment variable with the DSN; null: the ledger's own database, in the ledger's own transaction. */
  dsnEnv: string | null;
  /** One SQL statement; `{args.NAME}` and `{key}` are its parameters. */
  statement: string;
  /** Column of the first returned row that is the external id. */
  resultId: string | null;
  /** Fewer rows than this (returned or changed) mean that a condition no longer holds: nothing is kept, and the effect has failed. */
  minRows: number;
}

/** One mail by SMTP: neither look-up nor idempotency (D20). */
export interface SmtpEffect extends EffectBase {
  type: 'smtp';
  smtp: SmtpTarget;
}

export interface SmtpTarget {
  host: string;
  port: number;
  /** `tls` from the first byte; `starttls` is required and not only tried; `none` for servers in the same network. */
  security: 'tls' | 'starttls' | 'none';
  userEnv: string | null;
  passwordEnv: string | null;
  from: string;
}

/** A tool of an MCP server (D20). Its hints are advisory: only what is declared here counts. */
export interface McpEffect extends EffectBase {
  type: 'mcp';
  mcp: McpTarget;
  idempotency: (Idempotency & { argument: string }) | null;
  lookup: (Lookup & { tool: string; args: JsonObject }) | null;
  /** How a tool without idempotency keys carries our key, so that a look-up can find it. */
  correlation: { argument: string } | null;
}

export interface McpTarget {
  server: { command: string; args: string[]; env: string[] } | { url: string; headersEnv: Record<string, string> };
  tool: string;
  /** Field of the result that is the external id. */
  resultId: string | null;
  /** What a result with `isError` means: the tool declares that nothing happened, or nobody knows (D10). */
  errors: 'rejected' | 'uncertain';
}

/** A function written in TypeScript (D20). */
export interface FunctionEffect extends EffectBase {
  type: 'function';
  function: { module: string; export: string };
}

export interface ApprovalPolicy {
  expiresInMs: number;
  roles: string[];
  approvers: number;
  requesterMayApprove: boolean;
  /** Tries anew that one approval permits; a resend under the same idempotency key or after proven absence is not a new try. */
  attempts: number;
  /** Who tells before and after (D21). */
  preview: Question | null;
  /** Asked again at execution (D25). */
  precondition: (Question & { expect: JsonObject }) | null;
}

/** How a target is asked about an effect: over HTTP, by a SQL query, or by the function's own code. */
export type Question = { url: string } | { query: string } | { function: true };

/** What an adapter can do with one external system (D19). Shown by `holdfast capabilities`. */
export interface Capabilities {
  idempotency: { how: string; retentionMs: number; onMismatch: 'conflict' | 'ignored' } | null;
  lookup: { by: string; settleAfterMs: number; authoritativeAbsence: boolean } | null;
  cancel: boolean;
  fencing: boolean;
  compensation: string | null;
}
