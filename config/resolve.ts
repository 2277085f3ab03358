import { resolve } from 'node:path';
import { z } from 'zod';
import type { AgentConfig, ConfigInput, EffectConfig } from '../contracts/config.js';
import { textSchema } from '../contracts/config-values.js';
import { jsonObjectSchema } from '../contracts/json.js';
import { MAIL_INPUT_SCHEMA } from '../contracts/mail.js';
import type { ConfigProblem } from './error.js';
import { ConfigError } from './error.js';
import { check } from './issues.js';
import type { RawDocument } from './read.js';
import { readText } from './read.js';

type Outcome<T> = { data: T } | { problems: ConfigProblem[] };

/** Fills in what stands in other files and the default of `kind`. Every problem is reported at once. */
export function resolveFiles(input: ConfigInput, document: RawDocument): Outcome<{ agents: Record<string, AgentConfig>; effects: Record<string, EffectConfig> }> {
  const problems: ConfigProblem[] = [];
  const each = <In, Out>(table: Record<string, In>, turn: (name: string, item: In) => Outcome<Out>): Record<string, Out> =>
    Object.fromEntries(Object.entries(table).flatMap(([name, item]) => {
      const outcome = turn(name, item);
      if ('data' in outcome) return [[name, outcome.data]];
      problems.push(...outcome.problems);
      return [];
    }));
  const agents = each(input.agents, (name, agent) => resolveAgent(name, agent, document));
  const effects = each(input.effects, (name, effect) => resolveEffect(name, effect, document));
  return problems.length > 0 ? { problems } : { data: { agents, effects } };
}

function resolveAgent(name: string, agent: ConfigInput['agents'][string], document: RawDocument): Outcome<AgentConfig> {
  const { instructions, instructions_file: file, kind, ...rest } = agent;
  const text = inlineOrFile(`agents.${name}.instructions`, instructions, file, document, (content, key) => check(textSchema, content, key));
  if ('problems' in text) return text;
  const alone = rest.children.length === 0 && rest.effects.length === 0 && !rest.ask_user && rest.detached === undefined;
  return { data: { ...rest, instructions: text.data, kind: kind ?? (alone ? 'model' : 'agent') } };
}

function resolveEffect(name: string, effect: ConfigInput['effects'][string], document: RawDocument): Outcome<EffectConfig> {
  const { input_schema: given, input_schema_file: file, ...rest } = effect;
  const schema = given ?? (effect.type === 'smtp' && file === undefined ? MAIL_INPUT_SCHEMA : undefined);
  const resolved = inlineOrFile(`effects.${name}.input_schema`, schema, file, document, (content, key) => check(jsonText(jsonObjectSchema), content, key));
  return 'problems' in resolved ? resolved : { data: { ...rest, input_schema: resolved.data } };
}

function inlineOrFile<T>(
  key: string, inline: T | undefined, file: string | undefined, document: RawDocument, read: (content: string, key: string) => Outcome<T>,
): Outcome<T> {
  const problem = (message: string): Outcome<T> => ({ problems: [{ where: document.file, key, message }] });
  if (inline !== undefined && file !== undefined) return problem(`give either this or ${key}_file, not both`);
  if (inline !== undefined) return { data: inline };
  if (file === undefined) return problem(`is missing; give it or ${key}_file`);
  try {
    const outcome = read(readText(resolve(document.dir, file), document.file, `${key}_file`), file);
    return 'data' in outcome ? outcome : { problems: outcome.problems.map(({ message }) => ({ where: document.file, key: `${key}_file`, message: `${file}: ${message}` })) };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: [...error.problems] };
    throw error;
  }
}

function jsonText<T>(schema: z.ZodType<T>) {
  return z.string().transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('this is not valid JSON');
      return z.NEVER;
    }
  }).pipe(schema);
}
