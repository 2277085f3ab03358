import { z } from 'zod';

/** Text that can be stored and sent on unchanged: well-formed Unicode without NUL. Anything else is refused, never repaired (D14). */
export function soundText(max: number) {
  return z.string().max(max).refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL');
}
