import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../contracts/json.js';
import { NotCanonicalError, canonicalJson } from '../../domain/canonical.js';
import { digestOf } from '../../store/hash.js';

/** Text without NUL and half surrogate pairs, keys without `__proto__` and already in NFC. */
const text = fc.string({ unit: 'grapheme', maxLength: 6 }).map((s) => s.replaceAll('\0', ''));
const key = text.map((s) => s.normalize('NFC')).filter((s) => s !== '__proto__');
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false),
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([name, item]) => [name, shuffled(item)]));
}

describe('the canonical form', () => {
  it('case 29, D14: keys in any order give one form, which reads back as the same value', () => {
    fc.assert(fc.property(json, (value) => {
      const written = canonicalJson(value);
      expect(canonicalJson(shuffled(value))).toBe(written);
      expect(canonicalJson(JSON.parse(written) as Json)).toBe(written);
      expect(canonicalJson(JSON.parse(JSON.stringify(value)) as Json)).toBe(written);
    }));
  });

  it('case 29, D14: two values have one form exactly when they are the same JSON up to key order, -0 and NFC', () => {
    const plainer = (value: Json): Json => {
      if (typeof value === 'string') return value.normalize('NFC');
      if (typeof value === 'number') return value === 0 ? 0 : value;
      if (Array.isArray(value)) return value.map(plainer);
      return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainer(item)])) : value;
    };
    const pair = fc.tuple(json, json).chain(([a, b]) => fc.constantFrom<[Json, Json][]>([a, b], [a, shuffled(a)], [a, [a]], [{ a }, { a, b: null }], [[a, b], [b, a]]));
    fc.assert(fc.property(pair, ([a, b]) => {
      let same = true;
      try {
        expect(plainer(a)).toStrictEqual(plainer(b));
      } catch {
        same = false;
      }
      expect(canonicalJson(a) === canonicalJson(b)).toBe(same);
    }));
  });

  it.each<[string, Json, Json]>([
    ['key order at any depth', { b: 1, a: { d: 1, c: 2 } }, { a: { c: 2, d: 1 }, b: 1 }],
    ['1 and 1.0', { a: 1 }, JSON.parse('{"a":1.0}') as Json],
    ['100 and 1e2', [100], JSON.parse('[1e2]') as Json],
    ['0 and -0', [0], [-0]],
    ['composed and decomposed letters', ['\u00e9'], ['e\u0301']],
    ['composed and decomposed keys', { '\u00e9': 1 }, { 'e\u0301': 1 }],
    ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 }) as Json, { a: 1 }],
  ])('case 29, D14: %s have one digest', (_name, a, b) => {
    expect(digestOf(a)).toBe(digestOf(b));
  });

  it.each<[string, Json, Json]>([
    ['null and absent', { a: null }, {}],
    ['array order', [1, 2], [2, 1]],
    ['a number and its text', [1], ['1']],
    ['an empty list and an empty object', [], {}],
    ['false and null', [false], [null]],
    ['a blank and no text', [' '], ['']],
    ['neighbours at 2^53', [2 ** 53 - 1], [2 ** 53 - 2]],
    ['a nested list and a flat one', [[1], 2], [1, 2]],
    ['compatibility forms, which NFC keeps apart', ['\ufb01'], ['fi']],
  ])('case 29, D14: %s have different digests', (_name, a, b) => {
    expect(digestOf(a)).not.toBe(digestOf(b));
  });

  it('D14: keys are ordered by UTF-16 units, as RFC 8785 does', () => {
    expect(canonicalJson({ '\uff21': 1, '\ud83d\ude00': 2, '\u20ac': 3, '1': 4, a: 5, '': 6 })).toBe('{"":6,"1":4,"a":5,"\u20ac":3,"\ud83d\ude00":2,"\uff21":1}');
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  it.each<[string, unknown]>([
    ['NaN', Number.NaN], ['Infinity', Number.POSITIVE_INFINITY], ['undefined', undefined], ['a hole in a list', [, 1]], ['undefined in an object', { a: undefined }],
    ['a BigInt', 1n], ['a symbol', Symbol('x')], ['a function', () => 1], ['a Date', new Date(0)], ['a Map', new Map()], ['a RegExp', /x/],
    ['a class instance', new (class Point { x = 1; })()], ['a boxed number', Object(1)], ['bytes', new Uint8Array(2)], ['a cycle', cycle],
    ['an own key __proto__', JSON.parse('{"__proto__":{"a":1}}')], ['a nested __proto__', JSON.parse('[{"a":{"__proto__":1}}]')],
    ['NUL in text', 'a\0b'], ['NUL in a key', { 'a\0': 1 }], ['half an emoji', '\ud83d'], ['half an emoji in a key', { '\ude00': 1 }],
    ['two keys that NFC makes one', { '\u00e9': 1, 'e\u0301': 2 }],
    ['an object with toJSON', { toJSON: () => 'other' }],
  ])('case 29, case 37, D14: %s is refused, wherever it stands', (_name, value) => {
    for (const place of [value, [value], { a: { b: value } }]) expect(() => canonicalJson(place as Json)).toThrow(NotCanonicalError);
  });

  it('D14: nesting is bounded, and the limit is an error of its own and not an exhausted stack', () => {
    const nested = (levels: number): Json => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as Json;
    expect(canonicalJson(nested(101))).toHaveLength(202);
    for (const levels of [102, 5000]) expect(() => canonicalJson(nested(levels))).toThrow(/nested deeper than 100/);
  });

  it('D14: a refusal names the place', () => {
    expect(() => canonicalJson({ order: [{ amount: Number.NaN }] })).toThrow('order[0].amount: NaN is not a JSON number');
  });
});
