import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { startMcp, type McpWorld } from '../support/mcp/index.js';
import { waitFor } from '../support/wait.js';
import { obedient } from './kinds.js';

const DESK = fileURLToPath(new URL('../support/desk-effects.mjs', import.meta.url));
const ARGS = '{ type = "object", required = ["date", "people"], additionalProperties = false, properties = { date = { type = "string" }, people = { type = "integer" } } }';
const KINDS = ['keys_and_lookup', 'keys_only', 'lookup_only', 'neither'];

/** What must come out after a lost answer (D13). */
const AFTER = { keys_and_lookup: 'reconciled', keys_only: 'succeeded', lookup_only: 'reconciled', neither: 'unknown' };

let model: FakeModel;
beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
});
afterAll(async () => { await model?.close(); });

function toml(effect: (kind: string) => string, lookup = ''): string {
  const sections = KINDS.map((kind) => [
    `[effects.${kind}]\ntimeout = "4s"\ninput_schema = ${ARGS}\n${effect(kind)}`,
    kind.includes('lookup') ? `[effects.${kind}.lookup]\n${lookup}\nabsence = "authoritative"\nsettle_after = "100ms"\nevery = "1s"` : '',
  ]);
  return `
[models.default]
provider = "openai_compatible"
base_url = "${model.url}"
model = "scripted"
[agents.main]
instructions = "You are the controller."
effects = ${JSON.stringify(KINDS)}
${sections.flat().join('\n')}
`;
}

/** One turn with one effect of every kind; the worker dies when all have happened and none is recorded, and a fresh one takes over. */
async function killedAfterEffect(engine: Engine, programs: { all(): Promise<unknown>; none(): Promise<unknown> }): Promise<Record<string, string>> {
  const worker = await engine.worker({ at: 'after_effect', signal: 'SIGKILL', count: KINDS.length });
  // A worker starts its programs at once; a call that came before they are up would be not_sent, and the kill would come before any effect.
  await programs.all();
  const { turnId } = await engine.client.submit({ agent: 'main', text: `use ${KINDS.join(',')}`, as: 'tester' });
  await worker.exited;
  await programs.none();
  const fresh = await engine.worker();
  const entries = await waitFor(async () => {
    const effects = await engine.client.ledger({ turnId, kind: 'effect' });
    return effects.length === KINDS.length && effects.every(({ state }) => state !== 'dispatched' && state !== 'pending') && effects;
  }, { what: 'the effects to be settled or unknown', timeoutMs: 40_000 });
  const unknown = entries.find(({ state }) => state === 'unknown');
  await engine.until(turnId, 'waiting_unknown');
  await engine.client.settle(unknown!.key, { version: unknown!.version, outcome: 'succeeded', externalId: 'seen', reason: 'looked', as: 'op' });
  expect((await engine.until(turnId, 'completed')).text).toContain('seen');
  fresh.signal('SIGTERM');
  await fresh.exited;
  return Object.fromEntries(entries.map(({ effect, state }) => [effect, state]));
}

describe('a worker killed after the effect (D13, D36)', () => {
  it('D13: functions: found, sent again under the key, or unknown, as they declare; none happens twice', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'desk-'));
    const desk = join(folder, 'desk.jsonl');
    const engine = await startEngine(toml((kind) => `type = "function"\nmodule = ${JSON.stringify(DESK)}\nexport = "${kind}"\n${kind.startsWith('keys') ? `[effects.${kind}.idempotency]` : ''}`), { DESK_FILE: desk });
    try {
      expect(await killedAfterEffect(engine, { all: async () => undefined, none: async () => undefined })).toEqual(AFTER);
      expect(readFileSync(desk, 'utf8').trim().split('\n')).toHaveLength(KINDS.length);
    } finally {
      await engine.close();
      await rm(folder, { recursive: true });
    }
  }, 90_000);

  it('D13: MCP tools: the same; no server program outlives its worker, killed or stopped', async () => {
    const worlds = Object.fromEntries(await Promise.all(KINDS.map(async (kind) => [kind, await startMcp('stdio', kind.startsWith('keys') ? 'keys' : 'none')] as const)));
    const living = (): number[] => Object.values(worlds).flatMap((world) => world.living());
    const engine = await startEngine(toml((kind) => mcpEffect(kind, worlds[kind]!), 'tool = "find"\nargs = { key = "{key}" }'));
    try {
      const count = (wanted: number) => () => waitFor(() => living().length === wanted, { what: `${wanted} programs to live` });
      expect(await killedAfterEffect(engine, { all: count(KINDS.length), none: count(0) })).toEqual(AFTER);
      expect(living()).toEqual([]);
      expect(Object.values(worlds).map((world) => world.effects().length)).toEqual([1, 1, 1, 1]);
      expect(model.violations).toEqual([]);
    } finally {
      await engine.close();
      await Promise.all(Object.values(worlds).map((world) => world.stop()));
    }
  }, 90_000);
});

function mcpEffect(kind: string, { server }: McpWorld): string {
  if (!('command' in server)) throw new Error('this test starts programs');
  const key = kind.startsWith('keys') ? `[effects.${kind}.idempotency]\nargument = "key"` : '';
  const reference = kind === 'lookup_only' ? 'correlation = { argument = "reference" }' : '';
  return `type = "mcp"\ncommand = ${JSON.stringify(server.command)}\nargs = ${JSON.stringify(server.args)}\ntool = "reserve"\nresult_id = "id"\n${reference}\n${key}`;
}
