import { z } from 'zod';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What a duration looks like, in words for error messages. */
export const DURATION_FORM = 'a duration such as "500ms", "10s", "15m", "24h" or "7d"';

/** Milliseconds of a duration such as "10s"; null when the text is not one. Also used for `--timeout` and `?wait=`. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = UNIT_MS[match?.[2] ?? ''];
  return match === null || unit === undefined ? null : Number(match[1]) * unit;
}

/** Schema of a duration: text in, milliseconds out. `min` and `max` are durations too. */
export function durationSchema(min: string, max: string) {
  const least = parseDuration(min) ?? 0;
  const most = parseDuration(max) ?? Number.MAX_SAFE_INTEGER;
  return z
    .string(`must be ${DURATION_FORM}`)
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== null && ms >= least && ms <= most) return ms;
      context.addIssue(ms === null ? `must be ${DURATION_FORM}` : `must be between "${min}" and "${max}"`);
      return z.NEVER;
    })
    .meta({ kind: 'duration' });
}
