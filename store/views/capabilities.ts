import type { EffectDefinition } from '../../contracts/effect.js';
import type { Db } from '../pool.js';

/** An effect as an agent's current definition has it (D19). */
export interface CapabilityRow {
  agent: string;
  effect: EffectDefinition;
}

/** Every effect of every current definition, by agent and name. */
export async function capabilityRows(db: Db): Promise<CapabilityRow[]> {
  const { rows } = await db.query<{ agent: string; effect: EffectDefinition }>(
    `select c.agent, e.effect
     from holdfast.current_definition c join holdfast.definition d using (digest)
     cross join lateral jsonb_array_elements(d.body -> 'effects') as e (effect)
     order by c.agent, e.effect ->> 'name'`,
  );
  return rows;
}
