import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../contracts/json.js';
import { clip, isBlank, storable, storableJson } from '../../domain/text.js';

const FAMILY = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
const anything = fc.string({ unit: 'binary', maxLength: 12 }).map((s) => s.replaceAll('a', '\ud83d').replaceAll('b', '\ude00').replaceAll('c', '\0'));
const units = fc.array(fc.constantFrom('\ud83d', '\ude00', '\0', 'x', FAMILY, '\\u0000'), { maxLength: 8 }).map((parts) => parts.join(''));

describe('text that can be stored', () => {
  it('case 37: becomes well-formed without NUL, keeps its length, and stays as it is when it was sound', () => {
    fc.assert(fc.property(fc.oneof(anything, units), (text) => {
      const kept = storable(text);
      expect(kept.isWellFormed() && !kept.includes('\0')).toBe(true);
      expect(kept).toHaveLength(text.length);
      if (text.isWellFormed() && !text.includes('\0')) expect(kept).toBe(text);
      expect(storable(kept)).toBe(kept);
    }));
  });

  it.each([['a\0b', 'a\ufffdb'], ['\ud83d', '\ufffd'], ['\ude00x', '\ufffdx'], ['\\u0000', '\\u0000'], [FAMILY, FAMILY]])('case 37: %j is kept as %j', (text, kept) => {
    expect(storable(text)).toBe(kept);
    expect(storableJson({ [text]: [text, { deep: text }] })).toEqual({ [kept]: [kept, { deep: kept }] });
  });

  it('case 37: JSON of any depth is stored without NUL and half emoji, and other values are untouched', () => {
    const value = fc.oneof(units, fc.integer(), fc.constant(null), fc.array(fc.oneof(units, fc.boolean()), { maxLength: 3 }), fc.dictionary(units, units, { maxKeys: 3 }));
    fc.assert(fc.property(fc.dictionary(units, value, { maxKeys: 4 }), (object) => {
      const kept = JSON.stringify(storableJson(object as Json));
      expect(kept.replaceAll('\\\\', '')).not.toMatch(/\\u0000|\\ud[89a-f]/);
      const sound = JSON.stringify(object);
      if (!/\\u0000|\\ud[89a-f]/.test(sound)) expect(kept).toBe(sound);
    }));
  });

  it('case 37: a cut never leaves half an emoji, wherever the limit falls', () => {
    const text = `${FAMILY}x`.repeat(3);
    for (let max = 0; max <= text.length; max += 1) {
      const cut = clip(text, max);
      expect(cut.isWellFormed(), `limit ${max}`).toBe(true);
      const [kept = '', left] = cut.split('\n[… ');
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(max);
      expect(left === undefined ? 0 : Number.parseInt(left, 10)).toBe(text.length - kept.length);
    }
  });

  it.each([['', true], [' \n\t', true], ['\u3000\ufeff', true], ['.', false], ['\u200b', false]])('case 38: %j is blank: %s', (text, blank) => {
    expect(isBlank(text)).toBe(blank);
  });
});
