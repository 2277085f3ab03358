import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { MARKER_DDL } from '../../store/application/marker.js';
import { load, problemOf } from './config-support.js';

const DOCS = readFileSync(fileURLToPath(new URL('../../docs/effects.md', import.meta.url)), 'utf8');
const HEAD = '[models.default]\nprovider = "offline"\n[app]\ndefault_agent = "main"\n';
const agent = (effect: string) => `${HEAD}[agents.main]\ninstructions = "Help."\neffects = ["${effect}"]\n`;
const sql = (statement: string, more = '') => `${agent('e')}[effects.e]\ntype = "postgres"\nstatement = ${JSON.stringify(statement)}\ninput_schema = { type = "object", properties = { a = { type = "string" } } }\n${more}`;
const mail = (more: string) => `${agent('e')}[effects.e]\ntype = "smtp"\nhost = "localhost"\n${more}`;

/** The TOML blocks of docs/effects.md that declare an effect of a type. */
const example = (type: string): string => Array.from(DOCS.matchAll(/```toml\n([\s\S]*?)```/g), (match) => match[1] ?? '').find((block) => block.includes(`type = "${type}"`)) ?? '';

describe('examples of docs/effects.md', () => {
  it('I5, D18: the postgres example is a configuration, and the marker table is the one that is made', () => {
    const { definitions } = compileAgents(load(`${agent('reserve_seat')}${example('postgres')}`));
    expect(definitions[0]?.definition.effects[0]).toMatchObject({ type: 'postgres', postgres: { dsnEnv: null, minRows: 1, resultId: 'id' }, approval: { precondition: { expect: { free: true } } } });
    expect(DOCS).toContain(MARKER_DDL);
  });

  it('I5, D20: the smtp example needs no schema: that of a mail is used', () => {
    const { definitions } = compileAgents(load(`${agent('mail')}${example('smtp')}`));
    expect(definitions[0]?.definition.effects[0]).toMatchObject({ type: 'smtp', inputSchema: { required: ['to', 'subject', 'text'] }, lookup: null, idempotency: null });
  });
});

describe('statements', () => {
  it.each([
    ['commit', 'must begin with one of'],
    ['  -- a comment\n rollback', 'must begin with one of'],
    ['select 1; commit', 'several statements'],
    [`insert into t values ('{args.a}')`, 'inside of a literal'],
    ['insert into t values ({args.b})', 'is not an argument'],
    ['insert into t values ({a})', 'unknown placeholder {a}'],
    ['insert into t values ($1)', 'a parameter such as $1'],
    ['insert into t values ({args.a}', null],
    [`insert into t values ('{}'::jsonb, '{"x": 1}', E'\\'{', $q$ {;} $q$, {args.a}); -- ; {`, null],
  ])('D18, I5: %j', (statement, problem) => {
    if (problem === null) expect(() => load(sql(statement))).not.toThrow();
    else expect(problemOf(sql(statement))).toContain(problem);
  });

  it('D25, I5: a procedure reports no rows: none are asked of it, and a least number of them is refused', () => {
    const least = (statement: string) => compileAgents(load(sql(statement))).definitions[0]?.definition.effects[0];
    expect(least('-- books\n CALL book({args.a})')).toMatchObject({ postgres: { minRows: 0 } });
    expect(least('delete from t where a = {args.a}')).toMatchObject({ postgres: { minRows: 1 } });
    expect(problemOf(sql('call book({args.a})', 'min_rows = 1\n'))).toContain('a "call" reports no rows; leave it out');
    expect(() => load(sql('call book({args.a})', 'min_rows = 0\n'))).not.toThrow();
  });

  it('D21: a query that writes is refused where its first word says so', () => {
    expect(problemOf(sql('select 1', '[effects.e.approval]\npreview = { query = "delete from t" }\n'))).toContain('must begin with one of: select');
  });
});

describe('mails', () => {
  it.each([
    ['from = "nobody"', 'Bookings <bookings@example.com>'],
    ['from = "a@b.c\\r\\nBcc: x@y.z"', 'must be an address'],
    ['from = "a@b.c"\nuser_env = "U"', 'goes with password_env'],
    ['from = "a@b.c"\ninput_schema = { type = "object", properties = { attachments = { type = "array" } } }', 'Attachments are not supported'],
  ])('D20, I5: %j is refused', (more, problem) => {
    expect(problemOf(mail(more))).toContain(problem);
  });
});
