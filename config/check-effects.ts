import type { EffectConfig, HoldfastConfig } from '../contracts/config.js';
import { UNDO_ARGS } from '../contracts/config-effect.js';
import { placeholdersOf } from '../contracts/config-values.js';
import type { Json, JsonObject } from '../contracts/json.js';
import { mailSchema } from '../contracts/mail.js';
import { isCall, sqlPlaceholders } from '../contracts/sql-template.js';
import { EXTERNAL_ID } from '../domain/compensation-args.js';
import { placeholderNames } from '../domain/template.js';
import type { ConfigProblem } from './error.js';
import { inputSchemaProblem } from './input-schema.js';
import { suggestion } from './nearest.js';

type Found = { key: string; message: string };
type HttpConfig = Extract<EffectConfig, { type: 'http' }>;
type PostgresConfig = Extract<EffectConfig, { type: 'postgres' }>;
type SmtpConfig = Extract<EffectConfig, { type: 'smtp' }>;
type McpConfig = Extract<EffectConfig, { type: 'mcp' }>;

/** What an effect's keys must fulfil together (D13, D19). */
export function checkEffects(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.effects).flatMap(([name, effect]) =>
    [...checkSchema(effect), ...checkTarget(effect), ...checkQuestions(effect), ...checkRetry(effect), ...checkCompensation(config, name, effect)].map(({ key, message }) => ({
      where: config.file, key: `effects.${name}.${key}`, message,
    })));
}

function checkTarget(effect: EffectConfig): Found[] {
  if (effect.type === 'http') return [...checkArguments('url', placeholdersOf(effect.url), effect), ...checkLookup(effect), ...checkCorrelation(effect), ...checkHeaders(effect)];
  if (effect.type === 'postgres') return [...checkArguments('statement', sqlPlaceholders(effect.statement), effect), ...checkRows(effect)];
  if (effect.type === 'mcp') return checkServer(effect);
  return effect.type === 'smtp' ? checkMail(effect) : [];
}

/** The server counts no rows for a procedure, so that a least number would refuse every call (D25). */
function checkRows({ statement, min_rows: least = 0 }: PostgresConfig): Found[] {
  return least > 0 && isCall(statement) ? [{ key: 'min_rows', message: `is ${least}, but a "call" reports no rows; leave it out and raise an exception in the procedure when its condition does not hold` }] : [];
}

function checkMail(effect: SmtpConfig): Found[] {
  const login = (effect.user_env === undefined) === (effect.password_env === undefined) ? [] : [{ key: 'user_env', message: 'goes with password_env; give both or neither' }];
  const known = Object.keys(mailSchema.shape);
  const other = argumentNames(effect).filter((name) => !known.includes(name));
  return [...login, ...other.map((name) => ({ key: 'input_schema', message: `"${name}" is no argument of a mail; these are: ${known.join(', ')}. Attachments are not supported` }))];
}

/** An approval that permits one call never allows the new tries that the policy asks for (D13, D21). */
function checkRetry({ unknown: { retry }, approval }: EffectConfig): Found[] {
  if (retry === 'never' || approval === undefined || !approval.required || approval.attempts >= retry.max_attempts) return [];
  return [{ key: 'approval.attempts', message: `is ${approval.attempts}, but unknown.retry asks for up to ${retry.max_attempts} calls; make both the same` }];
}

/** One effect undoes another one, never itself, and no two undo the same (D29). */
function checkCompensation(config: HoldfastConfig, name: string, effect: EffectConfig): Found[] {
  const { compensates, compensation } = effect;
  if (compensates === undefined) return compensation === undefined ? [] : [{ key: 'compensation', message: 'goes with compensates, which names the effect that is undone' }];
  const known = Object.keys(config.effects);
  const undone = config.effects[compensates];
  if (undone === undefined) return [{ key: 'compensates', message: `"${compensates}" does not exist${suggestion(compensates, known)}` }];
  if (compensates === name) return [{ key: 'compensates', message: 'an effect cannot undo itself' }];
  const first = known.find((other) => config.effects[other]?.compensates === compensates);
  if (first !== name) return [{ key: 'compensates', message: `"${compensates}" is undone by "${first}" already` }];
  return checkUndoArguments(compensates, undone, compensation?.args ?? UNDO_ARGS);
}

/** A placeholder that can never have a value would let every try to undo fail, and only then (D29). */
function checkUndoArguments(undone: string, effect: EffectConfig, args: JsonObject): Found[] {
  const names = [...new Set(placeholderNames(args))];
  const noId = names.includes(EXTERNAL_ID) && (effect.type === 'http' || effect.type === 'postgres' || effect.type === 'mcp') && effect.result_id === undefined
    ? [{ key: 'compensation.args', message: `asks for {${EXTERNAL_ID}}, but "${undone}" has no result_id; declare it there, or use its arguments` }] : [];
  const known = [EXTERNAL_ID, ...argumentNames(effect)];
  const unknown = names.filter((name) => !known.includes(name));
  return [...noId, ...unknown.map((name) => ({ key: 'compensation.args', message: `{${name}} is neither {${EXTERNAL_ID}} nor an argument of "${undone}"${suggestion(name, known)}` }))];
}

function checkServer(effect: McpConfig): Found[] {
  const key = effect.idempotency?.argument;
  return [
    ...((effect.command === undefined) === (effect.url === undefined) ? [{ key: 'command', message: 'give either command (a program) or url (a server over HTTP)' }] : []),
    ...(key === undefined ? [] : ownPlace(effect, 'idempotency.argument', key)),
    ...(effect.correlation === undefined ? [] : ownPlace(effect, 'correlation.argument', effect.correlation.argument)),
    ...checkLookupTool(effect),
  ];
}

function ownPlace(effect: EffectConfig, key: string, name: string): Found[] {
  return argumentNames(effect).includes(name) ? [{ key, message: `"${name}" is an argument of input_schema; the key needs a place of its own` }] : [];
}

/** Tools answer "nothing found" in words of their own, so only an item that carries an id counts as found. */
function checkLookupTool(effect: McpConfig): Found[] {
  if (effect.lookup === undefined) return [];
  const names = placeholdersIn(effect.lookup.args);
  const wrong = names.find((name) => name !== 'key' && !/^args\.[^.]+$/.test(name));
  if (wrong !== undefined) return [{ key: 'lookup.args', message: `holds the unknown placeholder {${wrong}}; allowed are {key} and {args.NAME}` }];
  const noId = effect.result_id === undefined ? [{ key: 'result_id', message: 'is missing; with a look-up it tells an item that was found from any other answer' }] : [];
  return [...noId, ...checkAsked(effect, 'lookup.args', names)];
}

function placeholdersIn(value: Json): string[] {
  if (typeof value === 'string') return placeholdersOf(value);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placeholdersIn) : [];
}

function checkSchema({ input_schema: schema }: EffectConfig): Found[] {
  const found = inputSchemaProblem(schema);
  return found === null ? [] : [found];
}

function checkLookup(effect: HttpConfig): Found[] {
  return effect.lookup === undefined ? [] : checkAsked(effect, 'lookup.url', placeholdersOf(effect.lookup.url));
}

/** A look-up by a key that the system was never given would always answer "absent", and the effect would happen twice. */
function checkAsked(effect: HttpConfig | McpConfig, key: string, names: string[]): Found[] {
  if (names.length === 0) return [{ key, message: 'must hold {key} or {args.NAME}, so that it asks for this one effect' }];
  if (names.includes('key') && effect.idempotency === undefined && effect.correlation === undefined) {
    return [{ key, message: 'asks by {key}, but the system is never given the key; add idempotency or correlation, or ask by {args.NAME}' }];
  }
  return checkArguments(key, names, effect);
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
    const names = question.query === undefined ? placeholdersOf(question.url ?? '') : sqlPlaceholders(question.query);
    return checkArguments(`approval.${kind}.${allowed}`, names, effect);
  });
}

function checkArguments(key: string, placeholders: string[], effect: EffectConfig): Found[] {
  const known = argumentNames(effect);
  const wanted = placeholders.filter((name) => name.startsWith('args.')).map((name) => name.slice('args.'.length));
  return wanted.filter((name) => !known.includes(name)).map((name) => ({ key, message: `{args.${name}} is not an argument of input_schema${suggestion(name, known)}` }));
}

function checkCorrelation(effect: HttpConfig): Found[] {
  const field = effect.correlation?.field;
  return field === undefined ? [] : ownPlace(effect, 'correlation.field', field);
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
