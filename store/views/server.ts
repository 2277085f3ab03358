import type { Db } from '../pool.js';

/** The server's own version, and the migrations it has had; empty where the schema was never made. */
export async function serverState(db: Db): Promise<{ version: string; applied: string[] }> {
  const { rows } = await db.query<{ version: string; made: boolean }>(
    `select current_setting('server_version') as version, to_regclass('holdfast.migration') is not null as made`,
  );
  const made = rows[0]?.made === true;
  const applied = made ? (await db.query<{ name: string }>('select name from holdfast.migration order by name')).rows.map((row) => row.name) : [];
  return { version: rows[0]?.version ?? 'unknown', applied };
}
