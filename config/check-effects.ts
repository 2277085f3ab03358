import type { EffectConfig, HoldfastConfig } from '../contracts/config.js';
import { placeholdersOf } from '../contracts/config-values.js';
import type { ConfigProblem } from './error.js';
import { inputSchemaProblem } from './input-schema.js';
import { suggestion } from './nearest.js';

type Found = { key: string; message: string };
type HttpConfig = Extract<EffectConfig, { type: 'http' }>;
type McpConfig = Extract<EffectConfig, { type: 'mcp' }>;

/** What an effect's keys must fulfil together (D13, D19). */
export function checkEffects(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.effects).flatMap(([name, effect]) =>
    [...checkSchema(effect), ...checkTarget(effect), ...checkQuestions(effect)].map(({ key, message }) => ({
      where: config.file, key: `effects.${name}.${key}`, message,
    })));
}

function checkTarget(effect: EffectConfig): Found[] {
  if (effect.type === 'http') return [...checkLookup(effect), ...checkCorrelation(effect), ...checkHeaders(effect)];
  if (effect.type === 'postgres') return checkArguments('statement', placeholdersOf(effect.statement), effect);
  if (effect.type === 'mcp') return checkServer(effect);
  if (effect.type === 'smtp' && (effect.user_env === undefined) !== (effect.password_env === undefined)) return [{ key: 'user_env', message: 'goes with password_env; give both or neither' }];
  return [];
}

function checkServer(effect: McpConfig): Found[] {
  if ((effect.command === undefined) === (effect.url === undefined)) return [{ key: 'command', message: 'give either command (a program) or url (a server over HTTP)' }];
  const argument = effect.idempotency?.argument;
  return argument !== undefined && argumentNames(effect).includes(argument)
    ? [{ key: 'idempotency.argument', message: `"${argument}" is an argument of input_schema; the key needs an argument of its own` }]
    : [];
}

function checkSchema({ input_schema: schema }: EffectConfig): Found[] {
  const found = inputSchemaProblem(schema);
  return found === null ? [] : [found];
}

/** A look-up by a key that the system was never given would always answer "absent", and the effect would happen twice. */
function checkLookup(effect: HttpConfig): Found[] {
  const { lookup } = effect;
  if (lookup === undefined) return [];
  const names = placeholdersOf(lookup.url);
  if (names.length === 0) return [{ key: 'lookup.url', message: 'must hold {key} or {args.NAME}, so that it asks for this one effect' }];
  if (names.includes('key') && effect.idempotency === undefined && effect.correlation === undefined) {
    return [{ key: 'lookup.url', message: 'asks by {key}, but the system is never given the key; add idempotency or correlation, or ask by {args.NAME}' }];
  }
  return checkArguments('lookup.url', names, effect);
}

/** How a target may be asked follows from its type (D21, D25). */
const QUESTION = { http: 'url', postgres: 'query', function: 'function', smtp: null, mcp: null } as const;

function checkQuestions(effect: EffectConfig): Found[] {
  const allowed = QUESTION[effect.type];
  return (['preview', 'precondition'] as const).flatMap((kind): Found[] => {
    const question = effect.approval?.[kind];
    if (question === undefined) return [];
    if (allowed === null) return [{ key: `approval.${kind}`, message: `is not available for type "${effect.type}"; the arguments are shown` }];
    if (question[allowed] === undefined) return [{ key: `approval.${kind}`, message: `must be asked by ${allowed}, because the type is "${effect.type}"` }];
    const template = question.url ?? question.query;
    return template === undefined ? [] : checkArguments(`approval.${kind}.${allowed}`, placeholdersOf(template), effect);
  });
}

function checkArguments(key: string, placeholders: string[], effect: EffectConfig): Found[] {
  const known = argumentNames(effect);
  const wanted = placeholders.filter((name) => name.startsWith('args.')).map((name) => name.slice('args.'.length));
  return wanted.filter((name) => !known.includes(name)).map((name) => ({ key, message: `{args.${name}} is not an argument of input_schema${suggestion(name, known)}` }));
}

function checkCorrelation(effect: HttpConfig): Found[] {
  const field = effect.correlation?.field;
  if (field === undefined || !argumentNames(effect).includes(field)) return [];
  return [{ key: 'correlation.field', message: `"${field}" is an argument of input_schema; the key needs a field of its own` }];
}

/** Every header has one source. Names of headers do not distinguish case. */
function checkHeaders(effect: HttpConfig): Found[] {
  const used = [effect.idempotency?.header, effect.correlation?.header, ...Object.keys(effect.headers_env)].flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]));
  const double = used.find((name, i) => used.indexOf(name) !== i);
  return double === undefined ? [] : [{ key: 'headers_env', message: `the header "${double}" is given twice (headers_env, idempotency, correlation)` }];
}

function argumentNames({ input_schema: { properties } }: EffectConfig): string[] {
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties) ? Object.keys(properties) : [];
}
