import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import type { Message } from '../../contracts/message.js';
import type { StoredReply } from '../../contracts/reply.js';
import { turnGroups, userMessage } from '../../domain/assemble.js';
import type { Group, SteeredInput, StepRecord } from '../../domain/assemble.js';
import { transcriptCallId } from '../../domain/keys.js';
import { transcriptProblems } from '../../domain/transcript.js';
import { firstStepRead, selectWindow } from '../../domain/window.js';
import { violationsOf } from '../support/fake-model/strict.js';
import { openAiBody } from './openai-body.js';

const STATES: LedgerState[] = ['pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'reconciled', 'cancelled', 'conflict'];
const anyText = fc.oneof(fc.constantFrom('', ' \n', 'hello', '👨‍👩‍👧', '\u3000'), fc.string({ unit: 'grapheme', maxLength: 8 }).map((s) => s.replaceAll('\0', '')));
const result = fc.oneof(fc.constantFrom<Json>(null, '', '\n', 0, false, [], {}), anyText);

interface GeneratedCall {
  problem: boolean;
  stored: boolean;
  state: LedgerState;
  outcome: 'succeeded' | 'failed';
  proposal: 'rejected' | 'expired' | null;
  kind: 'effect' | 'child' | 'input';
  result: Json;
  edited: boolean;
}

const call: fc.Arbitrary<GeneratedCall> = fc.record({
  problem: fc.boolean(), stored: fc.boolean(), state: fc.constantFrom(...STATES), outcome: fc.constantFrom('succeeded', 'failed'),
  proposal: fc.constantFrom('rejected', 'expired', null), kind: fc.constantFrom('effect', 'child', 'input'), result, edited: fc.boolean(),
});
/** A step: calls, an unusable reply, or a model call that never came back. */
const step = fc.record({ use: fc.constantFrom('calls', 'calls', 'calls', 'unusable', 'lost'), text: anyText, calls: fc.array(call, { minLength: 1, maxLength: 3 }) });
const turn = fc.record({ input: anyText, steps: fc.array(step, { maxLength: 5 }), steered: fc.array(fc.record({ at: fc.integer({ min: 1, max: 6 }), text: anyText }), { maxLength: 2 }) });
type GeneratedTurn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

const ROW = { outcome: null, externalId: null, reason: null, args: {}, proposal: null } as const;

function recordsOf(turnId: string, steps: GeneratedTurn['steps']): StepRecord[] {
  return steps.flatMap(({ use, text, calls }, s): StepRecord[] => {
    const at = s + 1;
    const judged = calls.map((item, index) => ({ index, id: transcriptCallId(turnId, at, index), name: `tool${index}`, args: { n: index } as JsonObject, problem: item.problem ? 'unfit' : null }));
    const reply: StoredReply | null = use === 'lost' ? null : use === 'unusable' ? { use: 'unusable', problem: 'blank', detail: '' } : { use: 'calls', text, calls: judged };
    const own: StepRecord = { ...ROW, kind: 'model', name: 'm', state: 'succeeded', result: reply as unknown as Json, step: at, idx: -1 };
    const entries = use !== 'calls' ? [] : calls.flatMap((item, index): StepRecord[] => (item.problem || !item.stored ? [] : [{
      ...ROW, kind: item.kind, name: `tool${index}`, state: item.state, outcome: item.state === 'reconciled' ? item.outcome : null, proposal: item.proposal,
      result: item.result, args: item.edited ? { n: -1 } : { n: index }, step: at, idx: index,
    }]));
    return [own, ...entries];
  });
}

const turnId = (n: number): string => `t${n.toString(16).padStart(16, '0')}${'0'.repeat(14)}`;
const steeredOf = (item: GeneratedTurn): SteeredInput[] => item.steered.map(({ at, text }) => ({ beforeStep: at, content: { text } }));

/** A finished turn as it is stored, one group for each message and its results; a closing text ends it. */
function stored(item: GeneratedTurn, n: number): Group[] {
  const groups = [[userMessage({ text: item.input })], ...turnGroups(recordsOf(turnId(n), item.steps), steeredOf(item))];
  return [...groups, [{ role: 'assistant', text: `answer ${n}`, calls: [] }]];
}

const thread = fc.record({ before: fc.array(turn, { maxLength: 3 }), running: turn, lost: fc.nat({ max: 3 }) });

/** The whole of what a prompt may draw on; `lost` leading messages were cut off by the read limit. */
function parts({ before, running, lost }: { before: GeneratedTurn[]; running: GeneratedTurn; lost: number }) {
  const prior = before.flatMap(stored);
  const cut = prior[0] === undefined ? prior : [prior[0].slice(lost), ...prior.slice(1)].filter((group) => group.length > 0);
  const user = userMessage({ text: `now: ${running.input}` });
  return { prior: cut, user, turn: turnGroups(recordsOf(turnId(99), running.steps), steeredOf(running)) };
}

const callsOf = (messages: Message[]): string[] => messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : []));
const resultsOf = (messages: Message[]): string[] => messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));

describe('the window of a prompt', () => {
  it('case 12, D6, D7: for every thread and every size, the product check and an independent strict provider accept the request', () => {
    fc.assert(fc.property(thread, fc.integer({ min: 1, max: 40 }), (generated, size) => {
      const { prior, user, turn: groups } = parts(generated);
      const window = selectWindow(prior, user, groups, size);
      expect(transcriptProblems(window)).toEqual([]);
      expect(violationsOf(openAiBody('system', window))).toEqual([]);
    }), { numRuns: 500 });
  });

  it('case 12: it starts at a user message, keeps the newest input and the newest group, and no call or result is an orphan', () => {
    fc.assert(fc.property(thread, fc.integer({ min: 1, max: 40 }), (generated, size) => {
      const { prior, user, turn: groups } = parts(generated);
      const window = selectWindow(prior, user, groups, size);
      expect(window[0]?.role).toBe('user');
      expect(window.filter((message) => message.role === 'user' && message.text.includes(user.text))).toHaveLength(1);
      expect(callsOf(window).sort()).toEqual(resultsOf(window).sort());
      const newest = groups.at(-1)?.at(-1)?.text;
      if (newest !== undefined) expect(window.at(-1)?.text.endsWith(newest)).toBe(true);
    }));
  });

  it('case 12: it is never larger than its size except for what must be kept, and a larger size drops nothing that a smaller one kept', () => {
    fc.assert(fc.property(thread, fc.integer({ min: 1, max: 40 }), (generated, size) => {
      const { prior, user, turn: groups } = parts(generated);
      const window = selectWindow(prior, user, groups, size);
      expect(window.length).toBeLessThanOrEqual(Math.max(size, 1 + (groups.at(-1)?.length ?? 0)));
      const wider = callsOf(selectWindow(prior, user, groups, size + 1));
      for (const id of callsOf(window)) expect(wider).toContain(id);
    }));
  });

  it('D8, case 12: what is read for a prompt is enough: the window is the same as if the whole turn and thread had been read', () => {
    // At most two unusable replies in a row, as the loop allows.
    const row = fc.tuple(fc.constantFrom(0, 2, 2, 2), fc.array(call, { minLength: 1, maxLength: 1 }), anyText);
    const bounded = fc.array(row, { minLength: 4, maxLength: 9 }).map((rows) => rows.flatMap(([before, calls, text]) =>
      [...Array.from({ length: before }, () => ({ use: 'unusable' as const, text, calls })), { use: 'calls' as const, text, calls }]));
    fc.assert(fc.property(thread, bounded, fc.integer({ min: 1, max: 20 }), (generated, steps, size) => {
      const { prior, user } = parts({ ...generated, lost: 0 });
      const next = steps.length + 1;
      const records = recordsOf(turnId(99), steps);
      const read = turnGroups(records.filter((record) => record.step >= firstStepRead(next, size)), []);
      const lost = Math.max(0, prior.flat().length - size);
      const tail = prior.map((group, g) => group.slice(Math.max(0, lost - prior.slice(0, g).flat().length))).filter((group) => group.length > 0);
      expect(selectWindow(tail, user, read, size)).toEqual(selectWindow(prior, user, turnGroups(records, []), size));
    }));
  });

  it('case 10, D6: every call of a turn has exactly one result, right after it and in its order, whatever became of it', () => {
    fc.assert(fc.property(turn, (generated) => {
      for (const group of turnGroups(recordsOf(turnId(1), generated.steps), steeredOf(generated))) {
        expect(resultsOf(group)).toEqual(callsOf(group));
        for (const message of group) if (message.role === 'tool') expect(message.text.trim()).not.toBe('');
      }
    }));
  });

  it('case 12: 30 rounds of parallel calls, every size from 1 to all', () => {
    const steps = Array.from({ length: 30 }, () => ({ use: 'calls' as const, text: '', calls: [0, 1, 2].map(() => ({ problem: false, stored: true, state: 'succeeded' as const, outcome: 'succeeded' as const, proposal: null, kind: 'effect' as const, result: 'ok', edited: false })) }));
    const groups = turnGroups(recordsOf(turnId(1), steps), []);
    for (let size = 1; size <= 125; size += 1) {
      const window = selectWindow([], { role: 'user', text: 'go' }, groups, size);
      expect(transcriptProblems(window), `size ${size}`).toEqual([]);
      expect(window[0]).toEqual({ role: 'user', text: 'go' });
      expect(window.length).toBe(Math.max(5, Math.min(121, size - ((size - 1) % 4))));
    }
  });
});
