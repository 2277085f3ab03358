import type { JsonObject } from './json.js';

/** An effect as pinned with its agent (D34). Times in milliseconds. Secrets are named by environment variable only. */
export interface EffectDefinition {
  name: string;
  type: 'http';
  description: string;
  inputSchema: JsonObject;
  /** Never in parallel with other calls of the same reply (D6). */
  sequential: boolean;
  /** Limit of one physical call, from the claim to the last byte of the answer. */
  timeoutMs: number;
  http: HttpTarget;
  idempotency: { header: string; retentionMs: number; onMismatch: 'conflict' | 'ignored' } | null;
  lookup: { url: string; absence: 'authoritative' | 'eventual'; settleAfterMs: number; everyMs: number } | null;
  /** How a system without idempotency keys carries our key, so that a look-up can find it. */
  correlation: { header: string } | { field: string } | null;
  unknown: { retry: 'never' } | { retry: 'bounded'; maxAttempts: number; everyMs: number };
  approval: ApprovalPolicy | null;
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

export interface ApprovalPolicy {
  expiresInMs: number;
  roles: string[];
  approvers: number;
  requesterMayApprove: boolean;
  /** Tries anew that one approval permits; a resend under the same idempotency key or after proven absence is not a new try. */
  attempts: number;
  preview: { url: string } | null;
  precondition: { url: string; expect: JsonObject } | null;
}

/** What an adapter can do with one external system (D19). Shown by `holdfast capabilities`. */
export interface Capabilities {
  idempotency: { how: string; retentionMs: number; onMismatch: 'conflict' | 'ignored' } | null;
  lookup: { by: string; settleAfterMs: number; authoritativeAbsence: boolean } | null;
  cancel: boolean;
  fencing: boolean;
  compensation: string | null;
}
