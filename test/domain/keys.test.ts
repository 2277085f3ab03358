import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callKey, conversationOf, modelKey, summaryKey, transcriptCallId, turnIdOf, workflowIdOf } from '../../domain/keys.js';
import { sha256Hex } from '../../store/hash.js';

const agent = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/);
const thread = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constantFrom('a/b', 'a b', '%2F', '..', '~', '~a', 'a~b', '?#&', '대화', '\u{1f600}', 'm.1', 't'.repeat(400), '한'.repeat(100), `~${'0'.repeat(64)}`),
).filter((s) => s.isWellFormed());

describe('identities', () => {
  it('D1, I11: two conversations never share a workflow id, and it fits into what Temporal keeps', () => {
    fc.assert(fc.property(agent, thread, agent, thread, (a, t, b, u) => {
      const [first, second] = [workflowIdOf(a, t, sha256Hex), workflowIdOf(b, u, sha256Hex)];
      expect(first === second).toBe(a === b && t === u);
      expect(Buffer.byteLength(first)).toBeLessThanOrEqual(200);
    }));
  });

  it('D1, I11: a thread that looks like the hashed form of another one is still another conversation', () => {
    const long = 'x'.repeat(300);
    expect(workflowIdOf('main', `~${sha256Hex(long)}`, sha256Hex)).not.toBe(workflowIdOf('main', long, sha256Hex));
  });

  it('I11: the conversation is read back from every id that is not hashed', () => {
    fc.assert(fc.property(agent, thread, (name, threadId) => {
      const id = workflowIdOf(name, threadId, sha256Hex);
      expect(conversationOf(id)).toEqual(id.includes('/~') ? null : { agent: name, threadId });
    }));
  });

  it.each(['holdfast/main', 'holdfast/main/', 'other/main/x', 'holdfast/main/a/b', 'holdfast/main/%E0%A4%A', `holdfast/main/~${'0'.repeat(64)}`, ''])('I11: %j names no conversation', (id) => {
    expect(conversationOf(id)).toBeNull();
  });

  it('D2: a turn id depends on agent, thread and request id, and on where one ends and the next begins', () => {
    fc.assert(fc.property(fc.tuple(thread, thread, thread), fc.tuple(thread, thread, thread), (a, b) => {
      const same = a.every((part, i) => part === b[i]);
      expect(turnIdOf(...a, sha256Hex) === turnIdOf(...b, sha256Hex)).toBe(same);
      expect(turnIdOf(...a, sha256Hex)).toMatch(/^t[0-9a-f]{30}$/);
    }));
    expect(turnIdOf('a', 'bc', 'd', sha256Hex)).not.toBe(turnIdOf('a', 'b', 'cd', sha256Hex));
  });

  it('D11: keys of one turn are all different, never depend on arguments, and call ids fit every provider', () => {
    const turnId = turnIdOf('a', 'b', 'c', sha256Hex);
    const steps = Array.from({ length: 30 }, (_, step) => step + 1);
    const keys = steps.flatMap((step) => [modelKey(turnId, step), ...[0, 1, 11].flatMap((index) => [callKey(turnId, step, index), summaryKey(callKey(turnId, step, index))])]);
    expect(new Set(keys).size).toBe(keys.length);
    const ids = [1, 11, 1000].flatMap((step) => [0, 1, 11, 999].map((index) => transcriptCallId(turnId, step, index)));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  });
});
