import { Ajv2020 } from 'ajv/dist/2020.js';
import type { EffectConfig, HoldfastConfig } from '../contracts/config.js';
import { placeholdersOf } from '../contracts/config-values.js';
import type { ConfigProblem } from './error.js';
import { suggestion } from './nearest.js';

type Found = { key: string; message: string };

/** What an effect's keys must fulfil together (D13, D19). */
export function checkEffects(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.effects).flatMap(([name, effect]) =>
    [...checkSchema(effect), ...checkLookup(effect), ...checkCorrelation(effect), ...checkHeaders(effect), ...checkPrecondition(effect)].map(({ key, message }) => ({
      where: config.file, key: `effects.${name}.${key}`, message,
    })));
}

function checkSchema({ input_schema: schema }: EffectConfig): Found[] {
  if (schema.type !== 'object') return [{ key: 'input_schema.type', message: 'must be "object": arguments are always an object' }];
  try {
    new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
    return [];
  } catch (error) {
    return [{ key: 'input_schema', message: `this is not a JSON Schema (2020-12): ${error instanceof Error ? error.message.slice(0, 300) : ''}` }];
  }
}

/** A look-up by a key that the system was never given would always answer "absent", and the effect would happen twice. */
function checkLookup(effect: EffectConfig): Found[] {
  const { lookup } = effect;
  if (lookup === undefined) return [];
  const names = placeholdersOf(lookup.url);
  if (names.length === 0) return [{ key: 'lookup.url', message: 'must hold {key} or {args.NAME}, so that it asks for this one effect' }];
  if (names.includes('key') && effect.idempotency === undefined && effect.correlation === undefined) {
    return [{ key: 'lookup.url', message: 'asks by {key}, but the system is never given the key; add idempotency or correlation, or ask by {args.NAME}' }];
  }
  return checkArguments('lookup.url', names, effect);
}

function checkPrecondition(effect: EffectConfig): Found[] {
  const url = effect.approval?.precondition?.url;
  return url === undefined ? [] : checkArguments('approval.precondition.url', placeholdersOf(url), effect);
}

function checkArguments(key: string, placeholders: string[], effect: EffectConfig): Found[] {
  const known = argumentNames(effect);
  const wanted = placeholders.filter((name) => name.startsWith('args.')).map((name) => name.slice('args.'.length));
  return wanted.filter((name) => !known.includes(name)).map((name) => ({ key, message: `{args.${name}} is not an argument of input_schema${suggestion(name, known)}` }));
}

function checkCorrelation(effect: EffectConfig): Found[] {
  const field = effect.correlation?.field;
  if (field === undefined || !argumentNames(effect).includes(field)) return [];
  return [{ key: 'correlation.field', message: `"${field}" is an argument of input_schema; the key needs a field of its own` }];
}

/** Every header has one source. Names of headers do not distinguish case. */
function checkHeaders(effect: EffectConfig): Found[] {
  const used = [effect.idempotency?.header, effect.correlation?.header, ...Object.keys(effect.headers_env)].flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]));
  const double = used.find((name, i) => used.indexOf(name) !== i);
  return double === undefined ? [] : [{ key: 'headers_env', message: `the header "${double}" is given twice (headers_env, idempotency, correlation)` }];
}

function argumentNames({ input_schema: { properties } }: EffectConfig): string[] {
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties) ? Object.keys(properties) : [];
}
