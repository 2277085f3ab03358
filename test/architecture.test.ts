import { describe, expect, it } from 'vitest';
import { ZONES, lengthProblems, loosenessProblems, read, sourceFiles, zoneProblems } from './support/architecture.js';

const ALL = sourceFiles(/\.(ts|mjs)$/);
const PRODUCT = ALL.filter((file) => file.endsWith('.ts') && file.includes('/') && !file.startsWith('test/'));

/** `domain ← workflows` and so on: the design's layout, where a folder tells what its code may touch. */
describe('the product\'s files', () => {
  it('are found, in every folder that has rules', () => {
    expect(Object.keys(ZONES).filter((zone) => !PRODUCT.some((file) => file.startsWith(`${zone}/`)))).toEqual([]);
  });

  it.each(Object.keys(ZONES))('%s touches only what the design allows it', (zone) => {
    expect(PRODUCT.filter((file) => file.startsWith(`${zone}/`)).flatMap((file) => zoneProblems(file, read(file)))).toEqual([]);
  });

  it('are all in a folder that has rules', () => {
    expect(PRODUCT.filter((file) => ZONES[file.split('/')[0]!] === undefined)).toEqual([]);
  });

  it('and those of the tests: no file above 300 lines, no function above 60', () => {
    expect(ALL.flatMap((file) => lengthProblems(file, read(file)))).toEqual([]);
  });

  it('use no "any" and leave no work undone', () => {
    expect(PRODUCT.flatMap((file) => loosenessProblems(file, read(file)))).toEqual([]);
  });
});

describe('the rules', () => {
  const lines = (count: number) => '\n'.repeat(count);
  it.each([
    ['domain/a.ts', `import { createHash } from 'node:crypto';`, 'imports node:crypto; domain is free of Node\'s modules'],
    ['domain/a.ts', `import { readFileSync } from 'fs';`, 'imports fs; domain is free'],
    ['domain/a.ts', `import { z } from 'zod';`, 'imports zod; domain may import lossless-json'],
    ['domain/a.ts', `import { createPool } from '../store/pool.js';`, 'imports store/pool; domain may import contracts'],
    ['domain/a.ts', `const at = process.env.HOME;`, 'reads the environment'],
    ['contracts/a.ts', `import { x } from '../domain/x.js';`, 'contracts may import nothing else'],
    ['workflows/a.ts', `import { turnSchema } from '../contracts/turn.js';`, 'imports contracts/turn; workflows may import domain, and types of contracts, activities'],
    ['workflows/a.ts', `import { type Turn } from '../contracts/turn.js';`, 'imports contracts/turn'],
    ['workflows/a.ts', `import { createActivities } from '../activities/index.js';`, 'imports activities/index'],
    ['workflows/a.ts', `export * from '../store/pool.js';`, 'imports store/pool'],
    ['workflows/a.ts', `const x = await import('node:fs');`, 'imports node:fs'],
    ['workflows/a.ts', `const x = require(name);`, 'loads a module by a computed name'],
    ['activities/a.ts', `import pg from 'pg';`, 'imports pg; only store may'],
    ['activities/a.ts', `type Pool = import('pg').Pool;`, 'imports pg; only store may'],
    ['store/a.ts', `import { x } from '../activities/index.js';`, 'store may import contracts, domain'],
    ['store/sub/a.ts', `import { x } from '../../providers/registry.js';`, 'imports providers/registry'],
    ['client/a.ts', `import { conversation } from '../workflows/conversation.js';`, 'imports workflows/conversation'],
    ['client/a.ts', `import { runWorker } from '../worker/run.js';`, 'imports worker/run'],
    ['api/a.ts', `import { createPool } from '../store/pool.js';`, 'imports store/pool'],
    ['config/a.ts', `const { HOME } = process.env;`, 'reads the environment'],
    ['config/a.ts', `const { env } = process;`, 'reads the environment'],
    ['config/a.ts', `const x = globalThis.process['env'].HOME;`, 'reads the environment'],
    ['config/a.ts', `import { env } from 'node:process';`, 'reads the environment'],
    ['elsewhere/a.ts', '', 'its folder is in no zone'],
  ])('%s with `%s` → refused', (file, text, problem) => {
    expect(zoneProblems(file, text).map((line) => line.replace(/^\S+ /, ''))).toContainEqual(expect.stringContaining(problem));
  });

  it.each([
    ['workflows/a.ts', `import type { Turn } from '../contracts/turn.js';\nimport { a } from './b.js';\nimport { c } from '../domain/c.js';\nimport type { Activities } from '../activities/index.js';`],
    ['client/a.ts', `import { submitInputUpdate } from '../workflows/messages.js';\nimport { randomUUID } from 'node:crypto';`],
    ['cli/a.ts', 'const x = process.env.HOME;'],
  ])('%s with what it may use → accepted', (file, text) => {
    expect(zoneProblems(file, text)).toEqual([]);
  });

  it.each([
    ['a file of 301 lines', lines(301), 'has 301 lines'],
    ['a function of 61 lines', `function f() {${lines(60)}}`, 'a function of 61 lines'],
    ['an arrow function of 61 lines', `const f = () => {${lines(60)}};`, 'a function of 61 lines'],
    ['a method of 61 lines', `class A { m() {${lines(60)}} }`, 'a function of 61 lines'],
  ])('%s → refused', (_, text, problem) => {
    expect(lengthProblems('x.ts', text)).toEqual([expect.stringContaining(problem)]);
  });

  it.each(['const x: any = 1;', 'const x = y as any;', '// TODO later', '// @ts-ignore'])('`%s` → refused', (text) => {
    expect(loosenessProblems('x.ts', text)).toHaveLength(1);
  });

  it.each([['a file of 300 lines', lines(300)], ['a function of 60 lines', `function f() {${lines(59)}}`], ['a long describe', `describe('x', () => {${lines(100)}});`]])('%s → accepted', (_, text) => {
    expect(lengthProblems('x.ts', text)).toEqual([]);
  });
});

describe('the workflow bundle', () => {
  const bundle = read('dist/workflow-bundle.js');
  const modules = Array.from(bundle.matchAll(/^\/\*{3}\/ "([^"]+)"/gm), (match) => match[1]!);

  it('D8: holds the workflows, the pure rules they use and Temporal\'s own code, and nothing else', () => {
    expect(modules).toContain('./dist/workflows/conversation.js');
    const allowed = /^(\.\/dist\/(workflows|domain)\/|\.\/node_modules\/(@temporalio\/(workflow|common)|nexus-rpc|ms|long)\/|\?)/;
    expect(modules.filter((name) => !allowed.test(name))).toEqual([]);
  });

  it('D8: loads nothing from outside: no Node module, no pg, no zod', () => {
    expect(Array.from(bundle.matchAll(/(?<![\w.$])require\(("[^"]*"|'[^']*')\)/g), (match) => match[0])).toEqual([]);
    expect(Array.from(bundle.matchAll(/["'](node:\w+|pg|zod)["']/g), (match) => match[0])).toEqual([]);
  });
});
