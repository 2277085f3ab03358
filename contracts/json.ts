import { z } from 'zod';

/** Any JSON value. Numbers are finite doubles; integers outside ±2^53 never get this far (D14). */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const jsonSchema: z.ZodType<Json> = z.json() as z.ZodType<Json>;
export const jsonObjectSchema = z.record(z.string(), jsonSchema) as z.ZodType<JsonObject>;

const MAX_DEPTH = 100;

/**
 * JSON from outside that is kept exactly or refused (D14). A whole number beyond 2^53 may have lost digits before it came here, and
 * `__proto__` would be dropped by what reads it next; both are told with their place. Deep nesting is refused before it exhausts a stack.
 */
export const exactJsonSchema: z.ZodType<Json> = z
  .unknown()
  .superRefine((value, context) => {
    const found = inexact(value, []);
    if (found !== null) context.addIssue({ code: 'custom', path: found.path.slice(0, 10), message: found.message });
  })
  .pipe(jsonSchema);

interface Inexact {
  path: (string | number)[];
  message: string;
}

function inexact(value: unknown, path: (string | number)[]): Inexact | null {
  if (path.length > MAX_DEPTH) return { path, message: `nested deeper than ${MAX_DEPTH} levels` };
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path, message: 'a whole number beyond 2^53 cannot be kept exactly; write it as text' };
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return { path, message: 'the key __proto__ is not allowed' };
    const found = inexact((value as Record<string, unknown>)[key], [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== null) return found;
  }
  return null;
}
