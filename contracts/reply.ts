import type { JsonObject } from './json.js';
import type { ReplyProblem } from './steps.js';

/** A call of a judged reply. `problem`: why it was refused before running; then no ledger entry exists for it (D7). */
export interface JudgedCall {
  index: number;
  id: string;
  name: string;
  args: JsonObject;
  problem: string | null;
}

/** A model reply as judged and stored under its logical key (D12). */
export type StoredReply =
  | { use: 'calls'; text: string; calls: JudgedCall[] }
  | { use: 'final'; text: string }
  | { use: 'unusable'; problem: Exclude<ReplyProblem, 'invalid_calls'>; detail: string };
