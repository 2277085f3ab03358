import { absent, conflict, defineEffect, found, inconclusive, notSent, rejected, succeeded, type Json } from 'holdfast';
import { Outbox, OutboxAway } from './outbox.js';

/** The arguments, as `input_schema` in holdfast.toml describes them. */
interface Letter {
  to: string;
  text: string;
}

const outbox = new Outbox(process.env['OUTBOX_FILE'] ?? 'outbox.jsonl');

/**
 * Puts a letter into the outbox. The outbox remembers keys for ever and can be searched by key, so holdfast.toml declares both
 * `idempotency` and `lookup` for it.
 */
export default defineEffect<Letter>({
  async perform({ key, args, signal }) {
    if (!args.to.includes('@')) return rejected('the outbox takes only addresses with an @');
    try {
      const entry = await outbox.put({ key, to: args.to, text: args.text }, signal);
      if (entry.to !== args.to || entry.text !== args.text) return conflict('the outbox has another letter under this key');
      return succeeded({ externalId: entry.id, result: { id: entry.id, to: entry.to } });
    } catch (error) {
      // Nothing has been written when the outbox is away. Any other error is thrown on: its outcome is uncertain.
      if (error instanceof OutboxAway) return notSent(error.message);
      throw error;
    }
  },

  async lookup({ key }) {
    const entries = await outbox.find(key);
    if (entries.length > 1) return inconclusive(`the outbox has ${entries.length} letters under this key`);
    const [entry] = entries;
    return entry === undefined ? absent() : found({ externalId: entry.id, result: { ...entry } as Json });
  },

  async preview({ args }) {
    return { before: { letters: await outbox.count(args.to) }, after: { letters: (await outbox.count(args.to)) + 1, text: args.text } };
  },

  async precondition() {
    return { open: await outbox.isOpen() };
  },
});
