import type { AgentDefinition } from '../contracts/definition.js';
import type { Db } from './pool.js';

/** Stores definitions under their digests; the same digest is the same content (D34). */
export async function saveDefinitions(db: Db, definitions: { digest: string; definition: AgentDefinition }[]): Promise<void> {
  await db.query(
    `insert into definition (digest, agent, body)
     select d.digest, d.agent, d.body from jsonb_to_recordset($1::jsonb) as d(digest text, agent text, body jsonb)
     on conflict do nothing`,
    [JSON.stringify(definitions.map(({ digest, definition }) => ({ digest, agent: definition.name, body: definition })))],
  );
}

/** Makes these the definitions that new turns are pinned to. */
export async function publishDefinitions(db: Db, current: Record<string, string>): Promise<void> {
  await db.query(
    `insert into current_definition (agent, digest) select key, value from jsonb_each_text($1::jsonb)
     on conflict (agent) do update set digest = excluded.digest`,
    [JSON.stringify(current)],
  );
}

export async function loadDefinition(db: Db, digest: string): Promise<AgentDefinition> {
  const { rows } = await db.query<{ body: AgentDefinition }>('select body from definition where digest = $1', [digest]);
  const row = rows[0];
  if (row === undefined) throw new Error(`definition ${digest} is not stored`);
  return row.body;
}
