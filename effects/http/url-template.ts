import type { Json, JsonObject } from '../../contracts/json.js';

/** A filled URL, or the reason why it cannot be made; an operator reads the reason. */
export type FilledUrl = { ok: true; url: string } | { ok: false; problem: string };

const PLACEHOLDER = /\{(key|args\.([^{}]+))\}/g;

/**
 * Fills `{key}` and `{args.NAME}` (I5), percent-encoded. Arguments come from a model, so a value must not change which resource is
 * asked: it must be a scalar, not empty (an empty id often names the whole collection) and not only dots (URL parsers resolve them
 * even when encoded), and it must leave the origin as configured.
 */
export function fillUrl(template: string, key: string, args: JsonObject): FilledUrl {
  let problem: string | null = null;
  const url = template.replace(PLACEHOLDER, (_all, name: string, arg: string | undefined) => {
    const value = arg === undefined ? key : scalar(Object.hasOwn(args, arg) ? args[arg] : undefined);
    if (value !== null) return encodeURIComponent(value);
    problem ??= `the argument "${name.slice('args.'.length)}" is missing or cannot be part of a URL`;
    return '';
  });
  if (problem !== null) return { ok: false, problem };
  const wanted = originOf(template.replace(PLACEHOLDER, 'x'));
  if (wanted === null || originOf(url) !== wanted) return { ok: false, problem: 'the configured URL is not an http(s) URL, or an argument would change its host' };
  return { ok: true, url };
}

function scalar(value: Json | undefined): string | null {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text !== 'string' || !text.isWellFormed() || /^\.*$/.test(text)) return null;
  return text;
}

function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, origin } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? origin : null;
}
