import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineEffect, type DefinedEffect, type EffectRequest, type PerformResult } from '../../index.js';
import { effectChecks, functionTarget, type EffectHarness } from '../../testing/index.js';
import type { FunctionEffect } from '../../contracts/effect.js';
import { ROOT } from '../support/architecture.js';
import { startEngine } from '../support/engine.js';
import { waitFor } from '../support/wait.js';

const EXAMPLE = join(ROOT, 'examples/custom-effect');
const LETTER = { to: 'kim@example.com', text: 'see you at seven' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outbox-'));
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', EXAMPLE]);
});
afterAll(() => rm(folder, { recursive: true }));

describe('examples/custom-effect (I15, D20)', () => {
  it('D20, D21: it runs from its TOML: the difference is shown, a person approves, the letter is in the outbox once', async () => {
    const outbox = join(folder, 'run.jsonl');
    const engine = await startEngine('', { CONFIG: join(EXAMPLE, 'holdfast.toml'), OUTBOX_FILE: outbox });
    try {
      await engine.worker();
      const waiting = await engine.send(`write to ${LETTER.to}: ${LETTER.text}`, { agent: 'secretary' });
      const [approval] = waiting.approvals;
      expect(approval).toMatchObject({ args: LETTER, diff: expect.arrayContaining([expect.objectContaining({ field: 'letters', before: 0, after: 1 })]) });
      await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' });
      expect((await engine.until(waiting.turnId, 'completed')).text).toContain('L-1');
      expect((await readFile(outbox, 'utf8')).trim().split('\n')).toHaveLength(1);
    } finally {
      await engine.close();
    }
  });

  describe('and its effect keeps the rules of every adapter', () => {
    let world: EffectHarness<FunctionEffect>;
    beforeAll(async () => { world = await startWorld(); });
    for (const { name, run } of effectChecks({ keys: true, lookup: true }, () => world)) it(name, run);
  });
});

/** Faults by what can happen to a file and its caller: the folder is away, the content is not readable, the answer never comes back. */
async function startWorld(): Promise<EffectHarness<FunctionEffect>> {
  const file = join(folder, 'checks.jsonl');
  process.env['OUTBOX_FILE'] = file;
  const effect = await loadEffect('near');
  process.env['OUTBOX_FILE'] = join(folder, 'no-such-folder', 'outbox.jsonl');
  const away = await loadEffect('away');
  const awayKeys = new Set<string>();
  let fault: 'lose' | 'stall' | null = null;
  let held = 0;
  const perform = async (request: EffectRequest<typeof LETTER>): Promise<PerformResult> => {
    const result = await (awayKeys.has(request.key) ? away : effect).perform(request);
    if (fault === null) return result;
    if (fault === 'stall') await new Promise(() => { held += 1; });
    fault = null;
    throw new Error('the answer was lost');
  };
  const { adapter, call } = functionTarget(defineEffect({ ...effect, perform }), { idempotency: {}, lookup: { absence: 'authoritative' } });
  return {
    adapter,
    call: (key, variant = 1) => call(key, { ...LETTER, text: `${variant}` }),
    unreachable: (key) => {
      awayKeys.add(key);
      return call(key, LETTER);
    },
    happened: async (key) => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line.includes(`"key":"${key}"`)).length,
    loseAnswer: async () => { fault = 'lose'; },
    stall: async () => { fault = 'stall'; },
    stalled: async () => void (await waitFor(() => held > 0, { what: 'the call to be held' })),
    breakLookup: async () => {
      await rename(file, `${file}.away`);
      await writeFile(file, 'no letter\n');
    },
    heal: async () => {
      fault = null;
      await rename(`${file}.away`, file).catch(() => undefined);
    },
    stop: async () => undefined,
  };
}

/** A copy of the module of its own, which reads its environment when it is loaded. */
async function loadEffect(copy: string): Promise<DefinedEffect<typeof LETTER>> {
  const module = (await import(`${pathToFileURL(join(EXAMPLE, 'dist/effect.js')).href}?${copy}`)) as { default: DefinedEffect<typeof LETTER> };
  return module.default;
}
