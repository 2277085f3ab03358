import type { PostgresEffect } from '../../contracts/effect.js';
import { createPostgresAdapter } from '../../effects/postgres/adapter.js';
import { effectCall } from '../support/http-effect.js';
import { entryOf, ledgerFor, seedOpenTurn } from '../support/ledger-rig.js';
import { bookEffect, startApplication, type ApplicationWorld } from '../support/postgres-effect.js';
import { effectSuite, type EffectHarness } from './effect-suite.js';

function common(world: ApplicationWorld) {
  return {
    happened: world.happened,
    loseAnswer: async () => world.proxy.onCommit('lose_answer'),
    breakLookup: async () => world.proxy.shut(),
    stall: async () => world.proxy.onCommit('hold_answer'),
    stalled: () => world.proxy.held(),
    heal: async () => world.proxy.open(),
    stop: world.stop,
  };
}

/** Another database: the marker decides. */
async function elsewhere(): Promise<EffectHarness<PostgresEffect>> {
  const world = await startApplication();
  const dsns: Record<string, string> = { APP_DSN: world.proxy.dsn, CLOSED_DSN: 'postgres://nobody@127.0.0.1:1/none' };
  return {
    ...common(world),
    adapter: createPostgresAdapter({ secrets: (name) => dsns[name], databases: world.databases, ledgerDsn: '' }),
    call: (key, variant = 1) => effectCall(bookEffect('APP_DSN'), key, { people: variant }),
    unreachable: (key) => effectCall(bookEffect('CLOSED_DSN'), key),
  };
}

/** The ledger's own database, with what the worker does around a call: a settled entry is not looked up and not called again. */
async function own(): Promise<EffectHarness<PostgresEffect>> {
  const world = await startApplication();
  await seedOpenTurn(world.pool);
  const adapter = createPostgresAdapter({ secrets: () => undefined, databases: world.databases, ledgerDsn: world.dsn });
  const call = (key: string, variant = 1) => effectCall(bookEffect(null), key, { people: variant });
  return {
    ...common(world),
    adapter: {
      ...adapter,
      perform: (wanted, signal) => adapter.perform(wanted, signal, ledgerFor(world.pool, world.databases.pool(world.proxy.dsn), wanted, signal)),
      lookup: async (wanted, signal) => {
        const entry = await entryOf(world.pool, wanted.key);
        return entry?.state === 'succeeded' ? { kind: 'found', externalId: entry.externalId, result: entry.result, note: 'settled' } : adapter.lookup(wanted, signal);
      },
    },
    call,
    unreachable: call,
  };
}

effectSuite('postgres with a marker', { keys: true, lookup: true }, elsewhere);
effectSuite('postgres in the ledger\'s own database', { keys: true, lookup: true, inLedger: true }, own);
