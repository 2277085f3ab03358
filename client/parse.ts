import type { z } from 'zod';
import { HoldfastError } from './errors.js';

/** Checks a value from outside; the error names the field and what is allowed, never the whole value. */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  throw new HoldfastError('invalid_input', `${what} is not valid. ${problems.join('; ')}`);
}
