import type { Script } from '../../testing/index.js';

/** What an outside system offers (D13). The key always travels, so that the booking server's log can be read by key. */
export type Kind = 'keys_and_lookup' | 'lookup_only' | 'lookup_eventual' | 'keys_only' | 'neither';

export interface ChaosEffect {
  kind: Kind;
  /** Address of its booking server. */
  url: string;
  timeout?: string;
  /** How often an unknown entry is looked up again. */
  every?: string;
}

/** Schema of the arguments of every effect here. */
export const ARGS = '{ type = "object", required = ["date", "people"], additionalProperties = false, properties = { date = { type = "string" }, people = { type = "integer" } } }';
const KEYS = '.idempotency]\nheader = "Idempotency-Key"\nretention = "24h"\n';

/** An effect of one kind against a booking server. */
export function effectToml(name: string, { kind, url, timeout = '2s', every = '1s' }: ChaosEffect): string {
  const keys = kind.startsWith('keys');
  const absence = { keys_and_lookup: 'authoritative', lookup_only: 'authoritative', lookup_eventual: 'eventual' }[kind as string];
  return [
    `[effects.${name}]\ntype = "http"\nurl = "${url}/reservations"\nresult_id = "id"\ntimeout = "${timeout}"\ninput_schema = ${ARGS}`,
    keys ? '' : 'correlation = { header = "X-Ref" }',
    keys ? `[effects.${name}${KEYS}` : '',
    absence === undefined ? '' : `[effects.${name}.lookup]\nurl = "${url}/reservations?key={key}"\nabsence = "${absence}"\nsettle_after = "100ms"\nevery = "${every}"`,
  ].filter((part) => part !== '').join('\n');
}

/** The agent `main` with these effects, on a scripted model. */
export function chaosToml(modelUrl: string, effects: Record<string, ChaosEffect>): string {
  return agentToml(modelUrl, Object.fromEntries(Object.entries(effects).map(([name, effect]) => [name, effectToml(name, effect)])));
}

/** The same, with the effects as their sections of the file. */
export function agentToml(modelUrl: string, effects: Record<string, string>): string {
  return `
[app]
default_agent = "main"
[models.default]
provider = "openai_compatible"
base_url = "${modelUrl}"
model = "scripted"
timeout = "10s"
[agents.main]
instructions = "You are the controller."
model = "default"
effects = ${JSON.stringify(Object.keys(effects))}
${Object.values(effects).join('\n')}
`;
}

const CALL = { date: '2026-12-24', people: 2 };

/** A model that calls the effects which the user's text names after `use`, all in one reply, and then repeats what it was told. */
export const obedient: Script = ({ messages }) => {
  const asked = /^use (.+)$/.exec(textOf(messages.findLast((message) => message.role === 'user')?.content));
  const last = messages.findLastIndex((message) => message.role !== 'tool');
  const results = messages.slice(last + 1);
  if (results.length > 0) return { text: `Told: ${results.map((message) => textOf(message.content)).join(' | ')}` };
  if (asked?.[1] === undefined) return { text: 'Hello.' };
  return { calls: asked[1].split(',').map((name) => ({ name, args: CALL })) };
};

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}
