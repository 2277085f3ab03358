import type { Db } from '../pool.js';

/** Names of the agents that turns can be given to, in order; empty until a worker has registered its configuration. */
export async function agentNames(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ agent: string }>('select agent from holdfast.current_definition order by agent');
  return rows.map((row) => row.agent);
}
