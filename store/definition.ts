import { agentDefinitionSchema } from '../contracts/definition-schema.js';
import type { AgentDefinition } from '../contracts/definition.js';
import { NeedsMigration } from '../domain/failure.js';
import type { Db } from './pool.js';

/** Stores definitions under their digests; the same digest is the same content (D34). */
export async function saveDefinitions(db: Db, definitions: { digest: string; definition: AgentDefinition }[]): Promise<void> {
  await db.query(
    `insert into holdfast.definition (digest, agent, body)
     select d.digest, d.agent, d.body from jsonb_to_recordset($1::jsonb) as d(digest text, agent text, body jsonb)
     on conflict do nothing`,
    [JSON.stringify(definitions.map(({ digest, definition }) => ({ digest, agent: definition.name, body: definition })))],
  );
}

/** Makes these the definitions that new turns are pinned to. */
export async function publishDefinitions(db: Db, current: Record<string, string>): Promise<void> {
  await db.query(
    `insert into holdfast.current_definition (agent, digest) select key, value from jsonb_each_text($1::jsonb)
     on conflict (agent) do update set digest = excluded.digest`,
    [JSON.stringify(current)],
  );
}

/**
 * A pinned definition as this build reads it.
 * @throws NeedsMigration when it is not stored, or was written by a release whose definitions this build does not know (D34)
 */
export async function loadDefinition(db: Db, digest: string): Promise<AgentDefinition> {
  const { rows } = await db.query<{ body: unknown }>('select body from holdfast.definition where digest = $1', [digest]);
  const row = rows[0];
  if (row === undefined) throw new NeedsMigration(digest, 'it is not stored');
  const read = agentDefinitionSchema.safeParse(row.body);
  if (read.success) return read.data;
  const [first] = read.error.issues;
  throw new NeedsMigration(digest, `${first?.path.length ? first.path.join('.') : 'its body'}: ${first?.message ?? 'unreadable'}`);
}

/** The definition that new turns of an agent are pinned to; null when none was ever published. */
export async function currentDefinition(db: Db, agent: string): Promise<string | null> {
  const { rows } = await db.query<{ digest: string }>('select digest from holdfast.current_definition where agent = $1', [agent]);
  return rows[0]?.digest ?? null;
}

/** The agent of a stored definition; null when there is none of this digest. */
export async function agentOfDefinition(db: Db, digest: string): Promise<string | null> {
  const { rows } = await db.query<{ agent: string }>('select agent from holdfast.definition where digest = $1', [digest]);
  return rows[0]?.agent ?? null;
}
