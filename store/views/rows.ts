import type { Json } from '../../contracts/json.js';
import { MAX_LIST } from '../../contracts/list.js';

/** A wish for a number of rows, kept between 1 and `MAX_LIST`; `fallback` when nothing was asked for. */
export function boundedLimit(limit: number | undefined, fallback = 100): number {
  if (limit === undefined || !Number.isFinite(limit)) return fallback;
  return Math.min(Math.max(Math.trunc(limit), 1), MAX_LIST);
}

/**
 * Stored JSON as the text that a person reads: a string is itself, everything else is its JSON.
 * The views print results as text, because most of them are text of a model or of a target.
 */
export function jsonAsText(value: Json): string | null {
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
