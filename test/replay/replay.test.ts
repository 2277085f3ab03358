import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordedRun, replay } from '../../worker/replay.js';
import { isFields, storedHistories, textsOf, type Fields, type HistoryJson } from './history.js';
import '../support/quiet-runtime.js';
import { CONTENT, SCENARIOS } from './scenarios.js';

const BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));
const histories = storedHistories();

/** Largest history that is kept, in characters of JSON. */
const MAX_CHARS = 100_000;

/** Null when the build replays the history, else what differs. */
async function problemOf(json: HistoryJson, { codePath = BUNDLE, workflowId }: { codePath?: string; workflowId?: string } = {}): Promise<string | null> {
  const recorded = recordedRun(json);
  return replay({ ...recorded, workflowId: workflowId ?? recorded.workflowId }, codePath);
}

describe('the recorded histories', () => {
  it('D34: are those of every scenario', () => {
    const names = histories.map(({ name }) => name).filter((name) => !name.endsWith('.child'));
    expect(names).toEqual(Object.keys(SCENARIOS).sort());
  });

  it.each(histories)('D34: $name → this build replays it to its end', async ({ json }) => {
    expect(json.events.at(-1)).toHaveProperty('workflowExecutionCompletedEventAttributes');
    expect(await problemOf(json)).toBeNull();
  });

  it.each(histories)('D8, I12: $name → small, without message content and without traces of the machine', ({ json }) => {
    const texts = textsOf(json);
    expect(JSON.stringify(json).length).toBeLessThan(MAX_CHARS);
    expect(texts.filter((text) => text.includes(CONTENT))).toEqual([]);
    // An identity is `pid@host`; paths stand in stack traces.
    expect(texts.filter((text) => /\d+@|(?:^|[\s("'])(?:\/|[A-Z]:\\)(?:\w[\w.-]*[/\\])+/.test(text))).toEqual([]);
  });
});

/** Changes to one event of a history; each stands for a workflow that would do something else at this place. */
const CHANGES: Record<string, { of: string; at: string; change: (attributes: Fields) => void }> = {
  'another activity': { of: 'chat', at: 'activityTaskScheduledEventAttributes', change: (attributes) => { attributes.activityType = { name: 'callNothing' }; } },
  'a mark of a version in the place of a local activity': { of: 'chat', at: 'markerRecordedEventAttributes', change: (attributes) => { attributes.markerName = 'core_patch'; } },
  'another child workflow': { of: 'child-agent', at: 'startChildWorkflowExecutionInitiatedEventAttributes', change: (attributes) => { attributes.workflowType = { name: 'other' }; } },
  'another workflow type': { of: 'chat', at: 'workflowExecutionStartedEventAttributes', change: (attributes) => { attributes.workflowType = { name: 'other' }; } },
};

/** Edits of the built workflows, and a history that then no longer fits. */
const EDITS: Record<string, { from: string; to: string; breaks: string }> = {
  'asks another activity for the model\'s reply': { from: ').callModel(', to: ').summarize(', breaks: 'chat' },
  'does not store the end of a turn': { from: 'store.end(', to: 'store.open(', breaks: 'refused' },
  'looks an effect up in the place of performing it': { from: ').performEffect(', to: ').reconcileEffect(', breaks: 'effect' },
  'gives a child agent up in the place of starting it': { from: 'startChildAgent({ key })', to: 'giveUpCall({ key, reason: "" })', breaks: 'child-agent' },
};

describe('a build that would do something else', () => {
  it.each(Object.entries(EDITS))('D34: that %s → its replay fails', async (_, { from, to, breaks }) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-bundle-'));
    try {
      const codePath = join(folder, 'bundle.js');
      const code = await readFile(BUNDLE, 'utf8');
      expect(code).toContain(from);
      await writeFile(codePath, code.replaceAll(from, to));
      expect(await problemOf(histories.find(({ name }) => name === breaks)!.json, { codePath })).toMatch(/nondeterminism/i);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each(Object.entries(CHANGES))('D34: %s → the replay says so', async (_, { of, at, change }) => {
    const json = structuredClone(histories.find(({ name }) => name === of)!.json);
    const attributes = json.events.map((event) => event[at]).find(isFields);
    if (attributes === undefined) throw new Error(`${of} has no ${at}`);
    change(attributes);
    expect(await problemOf(json)).toMatch(/nondeterminism|other/i);
  });

  it('D34: a step left out of the history → the replay says so', async () => {
    const { json } = histories.find(({ name }) => name === 'effect')!;
    const events = json.events.filter((event) => !Object.keys(event).some((key) => /^activityTask(Scheduled|Started|Completed)EventAttributes$/.test(key)));
    expect(await problemOf({ events: events.map((event, index) => ({ ...event, eventId: String(index + 1) })) })).not.toBeNull();
  });

  it('D1, D34: under another workflow id → the conversation does not take it for its own', async () => {
    expect(await problemOf(histories.find(({ name }) => name === 'chat')!.json, { workflowId: 'holdfast/main/other' })).not.toBeNull();
  });
});
