import { describe, expect, it } from 'vitest';
import { defineEffect, found, NotSent, Rejected, rejected, succeeded, uncertain, type EffectFunctions } from '../../index.js';
import { MAX_RESULT_CHARS } from '../../effects/clipped.js';
import { createFunctionAdapter } from '../../effects/function/adapter.js';
import { effectChecks, functionTarget } from '../../testing/index.js';

const calm = (): AbortSignal => new AbortController().signal;
const ARGS = { text: 'hello', list: [1] };
const perform = (answer: EffectFunctions['perform'], signal = calm()) => {
  const { adapter, call } = functionTarget(defineEffect({ perform: answer }), {});
  return adapter.perform(call('k', ARGS), signal);
};
/** What a module in JavaScript may return, whatever the types say. */
const returns = (value: unknown) => perform(() => value as ReturnType<typeof succeeded>);
const looks = (value: unknown) => {
  const { adapter, call } = functionTarget(defineEffect({ perform: () => succeeded(), lookup: () => value as ReturnType<typeof found> }), { lookup: {} });
  return adapter.lookup(call('k', ARGS), calm());
};
const circle: { self?: unknown } = {};
circle.self = circle;

describe('function perform: nothing that comes back is trusted (D10, D20)', () => {
  const unusable: [string, unknown][] = [
    ['nothing', undefined], ['null', null], ['true', true], ['an unknown kind', { kind: 'done' }], ['no kind', { externalId: 'x' }], ['an id that is an object', succeeded({ externalId: {} as string })],
    ['an empty id', succeeded({ externalId: '' })], ['an id with NUL', succeeded({ externalId: 'a\0' })], ['an id beyond 2^53', { kind: 'succeeded', externalId: 2 ** 60, result: null }],
    ['a date as result', { kind: 'succeeded', result: new Date() }], ['a BigInt', { kind: 'succeeded', result: 1n }], ['NaN', { kind: 'succeeded', result: NaN }], ['a cycle', { kind: 'succeeded', result: circle }],
    ['an accessor that throws', { get kind(): string { throw new Error('no'); } }], ['a rejection without a message', { kind: 'rejected' }],
  ];
  it.each(unusable)('D10: %s is uncertain', async (_what, value) => {
    expect(await returns(value)).toMatchObject({ kind: 'uncertain', message: expect.stringContaining('unusable') });
  });

  it('D8: text is made fit for storage, and a long result is cut and says so', async () => {
    expect(await returns(succeeded({ result: { a: 'x\0', b: undefined as unknown as null } }))).toEqual({ kind: 'succeeded', externalId: null, result: { a: 'x\uFFFD' } });
    expect(await returns(succeeded({ externalId: 'R', result: 'x'.repeat(MAX_RESULT_CHARS + 1) }))).toMatchObject({ externalId: 'R', result: { clipped: true } });
    expect(await returns(rejected('y'.repeat(5000)))).toMatchObject({ message: expect.stringMatching(/^y{2000}… \(5000 characters\)$/) });
  });

  it('D10: a throw is uncertain, unless it is NotSent or Rejected', async () => {
    expect(await perform(() => { throw new Error('broken pipe'); })).toMatchObject({ kind: 'uncertain', message: expect.stringContaining('broken pipe') });
    expect(await perform(async () => { throw new NotSent('closed'); })).toEqual({ kind: 'not_sent', message: 'closed', retryAfterMs: null });
    expect(await perform(() => { throw new Rejected('full'); })).toEqual({ kind: 'rejected', message: 'full', result: null });
    expect((await perform(() => { throw Object.create(null) as Error; })).kind).toBe('uncertain');
  });

  it('D10: a function that ignores its signal is uncertain at the limit, and what it comes to is handed on', async () => {
    let end = (): void => undefined;
    const late = new Promise<void>((resolve) => { end = resolve; });
    const limit = new AbortController();
    const performing = perform(async () => { limit.abort(); await late; return succeeded({ externalId: 'late' }); }, limit.signal);
    const result = await performing;
    expect(result).toMatchObject({ kind: 'uncertain', message: expect.stringContaining('time limit') });
    end();
    expect(result.kind === 'uncertain' && (await result.late)).toMatchObject({ kind: 'succeeded', externalId: 'late' });
  });

  it('D21: a function that changes its arguments changes a copy', async () => {
    await perform(({ args }) => { (args['list'] as number[]).push(2); return uncertain('x'); });
    expect(ARGS.list).toEqual([1]);
  });

  it('D10: an effect that the worker has not loaded is not_sent', async () => {
    const { call } = functionTarget(defineEffect({ perform: () => succeeded() }), {});
    expect(await createFunctionAdapter(() => undefined).perform(call('k', ARGS), calm())).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('under-test') });
  });
});

describe('function look-up (D13)', () => {
  it.each([[undefined], [null], [[]], [{ kind: 'absent' }], [{ kind: 'found', externalId: {}, note: 'x' }], [{ kind: 'found', result: NaN, note: 'x' }]])('D13: %j is inconclusive, never absent', async (value) => {
    expect((await looks(value)).kind).toBe('inconclusive');
  });

  it('D13: found brings id and result', async () => {
    expect(await looks(found({ externalId: 'R-1', result: { a: 1 } }))).toEqual({ kind: 'found', externalId: 'R-1', result: { a: 1 }, note: 'the look-up found it' });
  });
});

describe('function questions (D21, D25)', () => {
  const approval = { expiresInMs: 1000, roles: ['approver'], approvers: 1, requesterMayApprove: true, attempts: 1, preview: { function: true as const }, precondition: { function: true as const, expect: { open: true } } };
  const target = (functions: Omit<EffectFunctions, 'perform'>) => {
    const { adapter, call } = functionTarget(defineEffect({ perform: () => succeeded(), ...functions }), {});
    const asked = call('k', ARGS);
    return { adapter, call: { ...asked, effect: { ...asked.effect, approval } } };
  };

  it('D25: the state must hold every field of expect; null and Rejected are a no', async () => {
    const holds = async (precondition: EffectFunctions['precondition']) => { const { adapter, call } = target({ precondition: precondition! }); return (await adapter.precondition(call, calm())).holds; };
    expect(await holds(() => ({ open: true, seats: 3 }))).toBe(true);
    expect(await holds(() => ({ open: false }))).toBe(false);
    expect(await holds(() => null)).toBe(false);
    expect(await holds(() => { throw new Rejected('closed'); })).toBe(false);
    await expect(holds(() => { throw new Error('down'); })).rejects.toMatchObject({ failure: 'retryable' });
    await expect(holds(() => 'yes' as unknown as null)).rejects.toMatchObject({ failure: 'terminal' });
  });

  it('D21: a preview gives before and after; Rejected refuses the proposal; anything else is an error', async () => {
    const previews = (preview: EffectFunctions['preview']) => { const { adapter, call } = target({ preview: preview! }); return adapter.preview(call, calm()); };
    expect(await previews(() => ({ before: { n: 1 }, after: { n: 2 } }))).toEqual({ kind: 'preview', before: { n: 1 }, after: { n: 2 } });
    expect(await previews(() => { throw new Rejected('no such order'); })).toEqual({ kind: 'refused', message: 'no such order' });
    await expect(previews(() => ({ before: 1 }) as unknown as { before: {}; after: {} })).rejects.toMatchObject({ failure: 'terminal' });
  });
});

describe('defineEffect and effectChecks', () => {
  it('D20: parts that are no functions are refused at once', () => {
    expect(() => defineEffect({} as EffectFunctions)).toThrow('perform must be a function');
    expect(() => defineEffect({ perform: () => succeeded(), lookup: 'x' as unknown as NonNullable<EffectFunctions['lookup']> })).toThrow('lookup must be a function');
  });

  it('D19: a check says what came instead of what it wants', async () => {
    const { adapter, call } = functionTarget(defineEffect<{ people: number }>({ perform: () => succeeded() }), {});
    const forgetful = { adapter, call: (key: string) => call(key, { people: 1 }), happened: async () => 0 };
    const check = effectChecks({ keys: false, lookup: false }, () => forgetful as never).find(({ name }) => name.includes('has one effect'));
    await expect(check?.run()).rejects.toThrow('the effect under the key "plain" must have happened 1 times');
  });
});
