import type { Context } from 'hono';
import { z } from 'zod';
import type { DecisionRefusal } from '../contracts/approval.js';
import type { UndoRefusal } from '../contracts/compensation.js';
import type { MigrateRefusal } from '../contracts/migration.js';
import type { SettleAnswer } from '../contracts/steps.js';
import { HoldfastError, type ErrorCode } from '../client/errors.js';

type SettleRefusal = Extract<SettleAnswer, { result: 'refused' }>['code'];

/** Stable codes of problem documents: the client's errors, refusals, and what HTTP itself can get wrong. */
export type ProblemCode =
  | ErrorCode | DecisionRefusal | SettleRefusal | UndoRefusal | MigrateRefusal | 'too_large' | 'unsupported_media_type' | 'foreign_host' | 'foreign_origin' | 'no_such_route';

type ProblemStatus = 400 | 403 | 404 | 409 | 410 | 413 | 415 | 421 | 422 | 500 | 503;

const STATUS: Record<ProblemCode, ProblemStatus> = {
  invalid_input: 400, configuration: 503, conflict: 409, not_found: 404, unknown_agent: 404, refused: 409, unreachable: 503, no_worker: 503, internal: 500,
  unknown_approval: 404, wrong_hash: 409, expired: 410, already_decided: 409, turn_finished: 409, not_permitted: 403, invalid_edit: 422,
  not_started: 409, not_running: 409, unknown_definition: 404, foreign_definition: 409, unusable_definition: 409, preview_failed: 503,
  unknown_entry: 404, stale_version: 409, not_unknown: 409, still_running: 409, not_done: 409, already_undone: 409, no_compensation: 409, undo_unknown: 409, missing_value: 409,
  too_large: 413, unsupported_media_type: 415, foreign_host: 421, foreign_origin: 403, no_such_route: 404,
};

const TITLE: Record<ProblemStatus, string> = {
  400: 'Bad request', 403: 'Not permitted', 404: 'Not found', 409: 'Conflict', 410: 'Too late', 413: 'Too large', 415: 'Unsupported media type',
  421: 'Wrong host', 422: 'Not acceptable', 500: 'Internal error', 503: 'Not available',
};

/** RFC 9457. `code` is stable, `detail` is for people and may change. */
export const problemSchema = z
  .object({ type: z.string(), title: z.string(), status: z.number().int(), code: z.string(), detail: z.string() })
  .meta({ id: 'Problem' });

export function problem(c: Context, code: ProblemCode, detail: string): Response {
  const status = STATUS[code];
  return c.body(JSON.stringify({ type: `urn:holdfast:problem:${code}`, title: TITLE[status], status, code, detail }), status, {
    'content-type': 'application/problem+json',
  });
}

/** A refusal on its way to the client; routes throw it, so that their types name successful answers only. */
export class Refused extends Error {
  constructor(
    readonly code: ProblemCode,
    message: string,
  ) {
    super(message);
    this.name = 'Refused';
  }
}

/** Whether an error's words are for the client. Others may quote data or addresses: they go to the log. */
export function isForClient(error: unknown): error is HoldfastError | Refused {
  return error instanceof Refused || (error instanceof HoldfastError && error.code !== 'internal');
}

export function problemOf(c: Context, error: unknown): Response {
  if (isForClient(error)) return problem(c, error.code, error.message);
  return problem(c, 'internal', 'The request failed inside Holdfast. The log of the API has the details.');
}
