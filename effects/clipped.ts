import type { Json } from '../contracts/json.js';
import { storableJson } from '../domain/text.js';

/** Most that is kept of one answer as a result, in UTF-16 code units. */
export const MAX_RESULT_CHARS = 1_000_000;

/** Stands for an answer that is too long to be kept whole, and says so. */
export function clipped(text: string, size: string): Json {
  return storableJson({ clipped: true, size, beginning: text.slice(0, MAX_RESULT_CHARS) });
}
