import type { Script, ScriptedReply } from '../../testing/index.js';
import { lastUser } from './thread.js';

/** The replies that a model gives in turn, or the one that it gives whenever it is asked. */
export type Sequence = ScriptedReply[] | ScriptedReply;

/**
 * A script for many turns at once: the first word of the newest user text names a sequence, and every request about it gets the next
 * reply, whether or not the reply before it entered the transcript. Without a sequence, or after its end, the model answers `ok`.
 */
export function sequences(all: Record<string, Sequence>): Script {
  const asked = new Map<string, number>();
  return (request) => {
    const name = lastUser(request).split(/\s/)[0] ?? '';
    const n = asked.get(name) ?? 0;
    asked.set(name, n + 1);
    const replies = all[name] ?? [];
    return (Array.isArray(replies) ? replies[n] : replies) ?? { text: 'ok' };
  };
}
