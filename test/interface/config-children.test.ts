import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { requireSecrets } from '../../config/secrets.js';
import { loadChildFunctions } from '../../worker/child-functions.js';
import { broken, load, messageOf, problemOf, RIGHT } from './config-support.js';

const CREDIT = '[children.credit]\ntype = "a2a"\nurl = "https://credit.example.com/a2a"';
const SUMS = '[children.sums]\ntype = "function"\nmodule = "sums.mjs"';
const OFFERED = broken('children = ["helper"]', 'children = ["helper", "credit", "sums"]');
const CHILDREN = `${OFFERED}\n${CREDIT}\nheaders_env = { Authorization = "CREDIT_AUTH" }\n${SUMS}\n`;
const childrenOf = (toml: string) => compileAgents(load(toml)).definitions.find(({ definition }) => definition.name === 'main')!.definition.children;

describe('[children.NAME]', () => {
  it('D32, D34: both types are pinned with their defaults, and hold the name of a secret only', () => {
    expect(childrenOf(CHILDREN).slice(1)).toEqual([
      { name: 'credit', kind: 'a2a', description: 'Asks the remote agent "credit".', input: 'context', url: 'https://credit.example.com/a2a',
        headersEnv: { Authorization: 'CREDIT_AUTH' }, timeoutMs: 300_000, pollMs: 1000, idempotent: false },
      { name: 'sums', kind: 'function', description: 'Does "sums".', input: 'context', module: 'sums.mjs', export: 'default', inputSchema: null, timeoutMs: 60_000 },
    ]);
  });

  it.each([
    ['the name of an agent', `${RIGHT}\n[children.helper]\ntype = "function"\nmodule = "x.mjs"`, 'holdfast.toml: children.helper: there is an agent of this name too; a child needs a name of its own'],
    ['a type that does not exist', `${RIGHT}\n[children.x]\ntype = "grpc"`, 'holdfast.toml: children.x.type = "grpc": allowed: "a2a", "function"'],
    ['an unknown key', `${OFFERED}\n${CREDIT}\nmodule = "x"\n${SUMS}`, 'holdfast.toml: children.credit.module: unknown key; allowed: type, description, input, url, headers_env, timeout, poll, idempotent'],
    ['no address', `${RIGHT}\n[children.x]\ntype = "a2a"`, 'holdfast.toml: children.x.url: is missing; it must be text'],
    ['a password in the address', `${RIGHT}\n[children.x]\ntype = "a2a"\nurl = "https://u:p@x/"`, 'must not hold a user or password'],
    ['a child that does not exist', `${OFFERED}\n${CREDIT}`, 'holdfast.toml: agents.main.children: "sums" does not exist; allowed: main, helper, credit'],
    ['a schema that is not an object', `${OFFERED}\n${CREDIT}\n${SUMS}\ninput_schema = { type = "string" }`, 'holdfast.toml: children.sums.input_schema.type: must be "object": arguments are always an object'],
  ])('I5: %s → refused with file, key and what is allowed', (_, toml, problem) => {
    expect(problemOf(toml)).toContain(problem);
  });

  it('I5: a header whose variable is not set → a worker does not start, for children that an agent uses', () => {
    expect(messageOf(() => requireSecrets(load(CHILDREN), {}))).toBe(
      'holdfast.toml: children.credit.headers_env.Authorization: the environment variable CREDIT_AUTH is not set; set it before the worker starts');
    expect(() => requireSecrets(load(CHILDREN.replace('"credit", ', '')), {})).not.toThrow();
  });
});

describe('functions that are children', () => {
  it.each([
    ['there is no module', null, /children\.sums\.module: sums\.mjs cannot be loaded: /],
    ['it exports something else', 'export const other = 1;', /children\.sums\.export: sums\.mjs exports nothing named "default"; allowed: other$/],
    ['it exports no function', 'export default 42;', /children\.sums\.export: "default" is no function; it must be async/],
  ])('I5: %s → a worker does not start and the error says why', async (_, source, problem) => {
    const dir = await mkdtemp(join(tmpdir(), 'functions-'));
    try {
      if (source !== null) await writeFile(join(dir, 'sums.mjs'), source);
      await expect(loadChildFunctions({ ...compileAgents(load(CHILDREN)), source: { file: 'holdfast.toml', dir } })).rejects.toThrow(problem);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
