import type { ScriptedReply } from '../../testing/index.js';

const ARGS = '{ type = "object", required = ["guest"], additionalProperties = false, properties = { guest = { type = "string" } } }';

/** `own`: in the ledger's database. `marked`: in the database that `APP_DSN` names. Both insert one row into `seat`. */
export function postgresToml(modelUrl: string): string {
  const effect = (name: string, dsn: string) => `[effects.${name}]
type = "postgres"
${dsn}
statement = "insert into seat (key, guest) values ({key}, {args.guest}) returning id"
result_id = "id"
timeout = "5s"
input_schema = ${ARGS}
`;
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
effects = ["own", "marked"]
${effect('own', '')}
${effect('marked', 'dsn_env = "APP_DSN"')}
`;
}

export const SEAT = 'create table public.seat (id bigint generated always as identity, key text, guest text)';

/** One reply with this many calls of each effect. */
export function callsOf(each: Record<string, number>): ScriptedReply {
  return { calls: Object.entries(each).flatMap(([name, count]) => Array.from({ length: count }, (_, index) => ({ name, args: { guest: `g${index}` } }))) };
}
