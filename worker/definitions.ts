import type { AgentDefinition } from '../contracts/definition.js';
import { loadDefinition } from '../store/definition.js';
import type { Pool } from '../store/pool.js';

/** Definitions kept in memory at most. */
const KEPT = 500;

/** Pinned definitions by digest. They never change, so each is read once (D34). */
export function definitionCache(pool: Pool): (digest: string) => Promise<AgentDefinition> {
  const cache = new Map<string, AgentDefinition>();
  return async (digest) => {
    const known = cache.get(digest);
    if (known !== undefined) return known;
    const definition = await loadDefinition(pool, digest);
    const oldest = cache.keys().next();
    if (cache.size >= KEPT && oldest.done !== true) cache.delete(oldest.value);
    cache.set(digest, definition);
    return definition;
  };
}
