import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const HISTORIES = fileURLToPath(new URL('./histories/', import.meta.url));

/** A history as JSON: what `temporal workflow show --output json` writes. */
export interface HistoryJson {
  events: Fields[];
}
export type Fields = { [name: string]: unknown };

export function storedHistories(): { name: string; json: HistoryJson }[] {
  return readdirSync(HISTORIES).filter((file) => file.endsWith('.json')).sort()
    .map((file) => ({ name: file.slice(0, -'.json'.length), json: JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as HistoryJson }));
}

/** Takes out what tells of the machine that recorded and what would differ each time without need: identities, queues, stacks. */
export function normalised(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normalised(item));
  if (!isFields(value)) return name === 'identity' ? 'recorder' : name === 'stackTrace' ? '' : value;
  if (name === 'taskQueue' || name === 'stickyTaskQueue') return { name: 'recorded', kind: value.kind };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, normalised(item, key)]));
}

/** Every text of a history, and what its payloads hold. */
export function textsOf(value: unknown, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item));
  if (isFields(value)) return Object.entries(value).flatMap(([key, item]) => [key, ...textsOf(item, key)]);
  if (typeof value !== 'string') return [];
  return name === 'data' ? [value, Buffer.from(value, 'base64').toString()] : [value];
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
