import type { Json } from '../../contracts/json.js';

/** Shorter texts are not masked: they would hide half of every answer. */
const LEAST_CHARS = 8;

/** Masks secret values that a server echoes (I5). */
export interface Mask {
  text(text: string): string;
  json(value: Json): Json;
}

export function createMask(secrets: string[]): Mask {
  const hidden = secrets.flatMap((value) => value.split(/\s+/)).filter((part) => part.length >= LEAST_CHARS);
  const text = (from: string): string => hidden.reduce((masked, secret) => masked.replaceAll(secret, '***'), from);
  const json = (value: Json): Json => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [text(name), json(item)]));
  };
  return { text, json: (value) => (hidden.length === 0 ? value : json(value)) };
}
