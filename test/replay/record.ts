import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import { waitFor } from '../support/wait.js';
import { HISTORIES, normalised, textsOf, type HistoryJson } from './history.js';
import { SCENARIOS, openStage, workflowsOf, type Stage } from './scenarios.js';

/** Not a test: the recorder, see README.md. It runs under vitest because the test engine does. */
it('records the histories of all scenarios', async () => {
  const stage = await openStage();
  try {
    const workflows: [file: string, workflowId: string][] = [];
    for (const [name, play] of Object.entries(SCENARIOS)) {
      await play(stage, name);
      workflows.push(...(await workflowsOf(stage, name)).map((id, index): [string, string] => [index === 0 ? name : `${name}.child`, id]));
    }
    const recorded = await Promise.all(workflows.map(async ([file, id]) => ({ file, history: await closedHistory(stage, id) })));
    expect(stage.model.violations).toEqual([]);
    for (const { file, history } of recorded) expect([file, tracesIn(normalised(history))]).toEqual([file, []]);
    await rm(HISTORIES, { recursive: true, force: true });
    await mkdir(HISTORIES);
    for (const { file, history } of recorded) {
      await writeFile(join(HISTORIES, `${file}.json`), `{"events":[\n${history.events.map((event) => JSON.stringify(normalised(event))).join(',\n')}\n]}\n`);
    }
  } finally {
    await stage.close();
  }
}, 300_000);

/** Texts that name this machine or its user. */
function tracesIn(history: unknown): string[] {
  return textsOf(history).filter((text) => text.split(/[^\w.-]+/).some((word) => word === hostname() || word === userInfo().username));
}

/** Of the closed run, so that its end is replayed, too. Written by Temporal's own CLI, as an operator would do it. */
async function closedHistory({ engine }: Stage, workflowId: string): Promise<HistoryJson> {
  await waitFor(async () => (await engine.temporal.workflow.getHandle(workflowId).describe()).status.name === 'COMPLETED', { what: `${workflowId} to close` });
  const show = ['workflow', 'show', '--workflow-id', workflowId, '--address', inject('temporalAddress'), '--output', 'json'];
  const { stdout } = await promisify(execFile)(inject('temporalBinary'), show, { maxBuffer: 10_000_000 });
  return JSON.parse(stdout) as HistoryJson;
}
