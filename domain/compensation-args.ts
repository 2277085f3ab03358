import type { JsonObject } from '../contracts/json.js';
import { fillArgs, placeholderNames } from './template.js';

/** `missing`: a placeholder has no value; what it would undo must not be guessed (D29). */
export type CompensationArgs = { kind: 'filled'; args: JsonObject } | { kind: 'missing'; name: string };

/** Arguments of what undoes an effect: its external id and those of its arguments that are plain values stand for the placeholders. */
export function compensationArgs(template: JsonObject, { externalId, args }: { externalId: string | null; args: JsonObject }): CompensationArgs {
  const plain = Object.entries(args).flatMap(([name, value]): [string, string][] => (value === null || typeof value === 'object' ? [] : [[name, String(value)]]));
  const groups = new Map([...plain.filter(([name]) => name !== EXTERNAL_ID), ...(externalId === null ? [] : [[EXTERNAL_ID, externalId] as const])]);
  const name = placeholderNames(template).find((wanted) => !groups.has(wanted));
  return name === undefined ? { kind: 'filled', args: fillArgs(template, { groups: Object.fromEntries(groups), result: null }) } : { kind: 'missing', name };
}

export const EXTERNAL_ID = 'external_id';
