import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRef, ModelStepResult, ReplyProblem } from '../../contracts/steps.js';
import { CORRECTIONS, FAILURE_REASON, LOOP_START, afterReply, batches, mayAsk } from '../../domain/turn-loop.js';
import type { LoopState } from '../../domain/turn-loop.js';

const call = { key: 't.1.0', sequential: false } as CallRef;
const problems: ReplyProblem[] = ['refused', 'blank', 'cut_off', 'invalid_calls'];
const bad = (problem: ReplyProblem): ModelStepResult => (problem === 'invalid_calls' ? { kind: 'calls', calls: [], invalid: 1 } : { kind: 'unusable', problem });
const good: ModelStepResult = { kind: 'calls', calls: [call], invalid: 3 };

/** Plays replies as the workflow does, until the turn ends or they run out. */
function play(replies: ModelStepResult[], maxSteps: number): { steps: number; end: string | null; corrections: (ReplyProblem | null)[] } {
  let state: LoopState = LOOP_START;
  const corrections: (ReplyProblem | null)[] = [];
  for (const reply of replies) {
    if (!mayAsk(state, maxSteps)) return { steps: state.step, end: 'max_steps', corrections };
    corrections.push(state.correction);
    state = { ...state, step: state.step + 1 };
    const next = afterReply(state, reply);
    if (next.do === 'finish') return { steps: state.step, end: 'completed', corrections };
    if (next.do === 'end') return { steps: state.step, end: next.reason, corrections };
    state = next.state;
  }
  return { steps: state.step, end: mayAsk(state, maxSteps) ? null : 'max_steps', corrections };
}

describe('the model loop', () => {
  it.each(problems)('D7, case 33, case 34: a reply that is %s is corrected a bounded number of times, told why, and then the turn fails by its name', (problem) => {
    const asked = CORRECTIONS[problem] + 1;
    expect(play(Array.from({ length: 10 }, () => bad(problem)), 100)).toEqual({
      steps: asked, end: FAILURE_REASON[problem], corrections: [null, ...Array.from({ length: asked - 1 }, () => problem)],
    });
  });

  it.each(problems)('D7: after a correction of %s that worked the count starts anew', (problem) => {
    const { end, corrections } = play([bad(problem), good, bad(problem), good, { kind: 'final' }], 100);
    expect(end).toBe('completed');
    expect(corrections).toEqual([null, problem, null, problem, null]);
  });

  it('D7: different problems in a row are one row', () => {
    expect(play([bad('blank'), bad('cut_off'), bad('invalid_calls')], 100).end).toBe(FAILURE_REASON.invalid_calls);
    expect(play([bad('blank'), bad('refused')], 100).end).toBe(FAILURE_REASON.refused);
  });

  it('D7: a reply with one usable call runs it, however many others were refused', () => {
    expect(afterReply(LOOP_START, good)).toEqual({ do: 'run_calls', calls: [call], state: LOOP_START });
  });

  it('D6: whatever the model replies, the loop makes at most max_steps calls and ends under a known name', () => {
    const reply = fc.oneof(fc.constant(good), fc.constant<ModelStepResult>({ kind: 'final' }), fc.constantFrom(...problems).map(bad));
    fc.assert(fc.property(fc.array(reply, { maxLength: 60 }), fc.integer({ min: 1, max: 30 }), (replies, maxSteps) => {
      const { steps, end } = play(replies, maxSteps);
      expect(steps).toBeLessThanOrEqual(maxSteps);
      if (replies.length > maxSteps) expect(['completed', 'max_steps', ...Object.values(FAILURE_REASON)]).toContain(end);
    }));
  });
});

describe('batches of calls', () => {
  it('D6: keep the order, run a sequential call alone, and put as many others together as possible', () => {
    fc.assert(fc.property(fc.array(fc.boolean(), { maxLength: 12 }), (flags) => {
      const calls = flags.map((sequential, n) => ({ sequential, n }));
      const result = batches(calls);
      expect(result.flat()).toEqual(calls);
      for (const batch of result) if (batch.some((item) => item.sequential)) expect(batch).toHaveLength(1);
      result.slice(1).forEach((batch, i) => expect(batch[0]?.sequential || result[i]?.[0]?.sequential).toBe(true));
    }));
  });
});
