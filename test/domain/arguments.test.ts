import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contracts/json.js';
import { parseArguments } from '../../domain/arguments.js';
import { canonicalJson } from '../../domain/canonical.js';

const text = fc.string({ unit: 'grapheme', maxLength: 8 }).map((s) => s.replaceAll('\0', '').normalize('NFC'));
const object = fc.dictionary(text.filter((s) => s !== '__proto__'), fc.oneof(
  text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  fc.array(fc.oneof(text, fc.maxSafeInteger()), { maxLength: 3 }), fc.dictionary(text.filter((s) => s !== '__proto__'), text, { maxKeys: 3 }),
), { maxKeys: 5 });

function problemOf(written: string): string {
  const parsed = parseArguments(written);
  return parsed.ok ? `accepted as ${JSON.stringify(parsed.args)}` : parsed.problem;
}

describe('reading arguments', () => {
  it('D14, case 29: what was printed is read back unchanged, in any spelling, and printed again the same', () => {
    fc.assert(fc.property(object, fc.constantFrom(0, 2, '\t'), (args, indent) => {
      const parsed = parseArguments(JSON.stringify(args, null, indent));
      const expected = JSON.parse(JSON.stringify(args)) as JsonObject;
      expect(parsed).toEqual({ ok: true, args: expected, canonical: canonicalJson(expected) });
      if (parsed.ok) expect(parseArguments(parsed.canonical)).toMatchObject({ ok: true, canonical: parsed.canonical });
    }));
  });

  it('case 33, D7: every cut of valid arguments is refused', () => {
    fc.assert(fc.property(object, fc.nat(), (args, at) => {
      const whole = JSON.stringify(args);
      expect(parseArguments(whole.slice(0, at % whole.length)).ok).toBe(false);
    }));
  });

  it.each([
    ['an unclosed list', '{"items":[1,2]', /not valid JSON/],
    ['an unclosed object', '{"path":"x"', /not valid JSON/],
    ['an unclosed text', '{"path":"x', /not valid JSON/],
    ['nothing', '', /empty/],
    ['white space', ' \n\t', /empty/],
    ['a list', '[]', /not a JSON object/],
    ['a text', '"str"', /not a JSON object/],
    ['a number', '5', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['a literal', 'true', /not a JSON object/],
    ['two values', '{"a":1}{"a":2}', /not valid JSON/],
    ['a fence around it', '```json\n{"a":1}\n```', /not valid JSON/],
    ['single quotes', "{'a':1}", /not valid JSON/],
    ['a trailing comma', '{"a":1,}', /not valid JSON/],
    ['a comment', '{"a":1/*x*/}', /not valid JSON/],
    ['NaN', '{"a":NaN}', /not valid JSON/],
    ['a leading zero', '{"a":007}', /not valid JSON/],
    ['a raw line break in a text', '{"a":"x\ny"}', /not valid JSON/],
    ['a byte order mark', '\ufeff{"a":1}', /not valid JSON/],
    ['a key twice', '{"amt":1,"amt":9}', /"amt" is given twice/],
    ['a key twice in two spellings', '{"amt":1,"\\u0061mt":9}', /"amt" is given twice/],
    ['a key twice with the same value', '{"amt":1,"amt":1}', /twice/],
    ['a key twice, a list and an object', '{"a":[],"a":{}}', /twice/],
    ['a key twice, deep', '{"a":[{"b":{"c":[1],"c":{"0":1}}}]}', /twice/],
    ['two keys that NFC makes one', '{"\u00e9":1,"e\u0301":2}', /same key twice after Unicode/],
    ['2^53', '{"n":9007199254740992}', /n: the integer 9007199254740992 is beyond 2\^53/],
    ['2^53 + 1 as a fraction', '{"n":9007199254740993.0}', /beyond 2\^53/],
    ['an integer in exponent form', '{"n":1e300}', /beyond 2\^53/],
    ['a negative one', '{"a":{"n":[-9007199254740993]}}', /a\.n\[0\]: the integer/],
    ['a number above every double', '{"n":1e400}', /too large/],
    ['__proto__', '{"__proto__":{"admin":true}}', /__proto__: this key is not allowed/],
    ['__proto__ inside', '{"a":[{"__proto__":1}]}', /not allowed/],
    ['NUL', '{"a":"x\\u0000y"}', /a: holds a NUL/],
    ['NUL in a key', '{"x\\u0000y":1}', /holds a NUL/],
    ['half an emoji', '{"a":"\\ud83d"}', /half of a surrogate pair/],
    ['two low halves', '{"a":"\\ude00\\ude00"}', /half of a surrogate pair/],
    ['nesting above the limit', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, /nested deeper than 100/],
    ['nesting that exhausts the parser', `{"a":${'['.repeat(100_000)}`, /nested too deeply/],
  ])('case 33, case 37, D7, D14: %s is refused with the reason', (_name, written, reason) => {
    expect(problemOf(written)).toMatch(reason);
  });

  it.each<[string, string, JsonObject]>([
    ['the largest safe integer', '{"n":9007199254740991}', { n: 9007199254740991 }],
    ['1.0 as 1', '{"n":1.0}', { n: 1 }],
    ['1e2 as 100', '{"n":1e2}', { n: 100 }],
    ['long digits in a text', '{"id":"90071992547409931234"}', { id: '90071992547409931234' }],
    ['null, apart from absent', '{"a":null}', { a: null }],
    ['the literal text \\u0000', '{"a":"\\\\u0000"}', { a: '\\u0000' }],
    ['colons, quotes and backslashes in texts and keys', '{"a:\\":":"b:\\\\","c":[":"]}', { 'a:":': 'b:\\', c: [':'] }],
    ['a whole emoji in escapes', '{"a":"\\ud83d\\ude00"}', { a: '\u{1f600}' }],
    ['keys that objects inherit', '{"toString":1,"constructor":{"prototype":2}}', { toString: 1, constructor: { prototype: 2 } } as unknown as JsonObject],
    ['fields that the parser uses itself', '{"isLosslessNumber":true,"value":"9"}', { isLosslessNumber: true, value: '9' }],
    ['an empty object', ' {} ', {}],
  ])('D14: %s is read exactly', (_name, written, args) => {
    expect(parseArguments(written)).toMatchObject({ ok: true, args });
  });

  it('D14: -0 is 0 in the digest, and text keeps its own Unicode form in what runs', () => {
    expect(parseArguments('{"a":-0,"b":"e\u0301"}')).toMatchObject({ ok: true, canonical: '{"a":0,"b":"\u00e9"}', args: { b: 'e\u0301' } });
  });

  it('D14: nothing that is read can change the prototype of an object', () => {
    parseArguments('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
