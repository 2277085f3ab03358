import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contracts/json.js';
import { compensationArgs } from '../../domain/compensation-args.js';

const fill = (template: JsonObject, args: JsonObject = {}, externalId: string | null = 'r-1') => compensationArgs(template, { externalId, args });

describe('arguments of what undoes an effect', () => {
  it('D29: stand for the external id and for plain arguments, as text or as a whole number', () => {
    expect(fill({ id: '{external_id}', why: 'for {name}, {on}', n: '{people:int}', list: ['{name}'], of: { it: '{guest-no}' } }, { name: 'Kim', on: false, people: 3, 'guest-no': 7 }))
      .toEqual({ kind: 'filled', args: { id: 'r-1', why: 'for Kim, false', n: 3, list: ['Kim'], of: { it: '7' } } });
  });

  it('D29: a value is never searched for placeholders, and an empty one is a value', () => {
    expect(fill({ a: '{name}', b: '{none}' }, { name: '{external_id}', none: '' })).toEqual({ kind: 'filled', args: { a: '{external_id}', b: '' } });
  });

  it.each<[string, JsonObject, JsonObject, string | null, string]>([
    ['no external id', { id: '{external_id}' }, {}, null, 'external_id'],
    ['an argument of that name is no external id', { id: '{external_id}' }, { external_id: 'x' }, null, 'external_id'],
    ['an argument that was not given', { id: 'a {note}' }, {}, 'r-1', 'note'],
    ['one that is null', { id: '{note}' }, { note: null }, 'r-1', 'note'],
    ['one that is an object', { id: ['{note}'] }, { note: { a: 1 } }, 'r-1', 'note'],
    ['one that is a list', { of: { id: '{note:int}' } }, { note: [1] }, 'r-1', 'note'],
    ['a result', { id: '{result.id}' }, {}, 'r-1', 'result.id'],
    ['a number inside a text', { id: 'no {people:int}' }, { people: 3 }, 'r-1', 'people:int'],
    ['a name of every object', { id: '{constructor}' }, {}, 'r-1', 'constructor'],
  ])('D29: %s is named, never left empty', (_what, template, args, externalId, name) => {
    expect(fill(template, args, externalId)).toEqual({ kind: 'missing', name });
  });
});
