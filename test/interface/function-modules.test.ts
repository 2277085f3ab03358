import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { loadConfig } from '../../config/load.js';
import { loadFunctions } from '../../worker/load-functions.js';
import { read, ROOT } from '../support/architecture.js';

let cwd: string;
beforeAll(async () => { cwd = await mkdtemp(join(tmpdir(), 'holdfast-modules-')); });
afterAll(() => rm(cwd, { recursive: true }));

const LIB = pathToFileURL(join(ROOT, 'dist/index.js')).href;
const RIGHT = `import { defineEffect, succeeded } from '${LIB}';\nexport default defineEffect({ perform: () => succeeded() });\n`;
let n = 0;

/** Loads one effect from a module of its own; node keeps modules by name. */
async function loadOne(source: string, keys = '', sections = '') {
  const module = `m${n += 1}.mjs`;
  if (source !== '') await writeFile(join(cwd, module), source);
  await writeFile(join(cwd, 'holdfast.toml'), `
[models.default]
provider = "offline"
[agents.main]
instructions = "Help."
effects = ["note"]
[effects.note]
type = "function"
module = "./${module}"
input_schema = { type = "object" }
${keys}
${sections}`);
  const compiled = compileAgents(loadConfig({ cwd, env: {} }));
  const find = await loadFunctions(compiled);
  const [effect] = compiled.definitions[0]!.definition.effects;
  return effect?.type === 'function' ? find(effect) : undefined;
}

describe('the package entry "holdfast" (I14)', () => {
  it('I14: it loads nothing but its own definitions, so that workflow code may use it', () => {
    const loads = (file: string) => Array.from(read(file).matchAll(/(?:from|import\()\s*'([^']+)'/g), (match) => match[1]);
    expect(loads('dist/index.js')).toEqual(['./effects/function/define.js']);
    expect(loads('dist/effects/function/define.js')).toEqual([]);
  });
});

describe('modules of function effects (D19, D20)', () => {
  it('D20: a module beside the configuration is found from any working directory, also under a named export', async () => {
    expect(await loadOne(RIGHT)).toMatchObject({ holdfast: 'effect' });
    expect(await loadOne(RIGHT.replace('default', 'const note ='), 'export = "note"')).toMatchObject({ holdfast: 'effect' });
  });

  it('I5: nothing is imported when the configuration is checked', async () => {
    await expect(loadOne('throw new Error("was imported");')).rejects.toThrow('was imported');
    expect(() => compileAgents(loadConfig({ cwd, env: {} }))).not.toThrow();
  });

  it.each([
    ['a module that is not there', '', '', '', /effects\.note\.module: \.\/m\d+\.mjs cannot be loaded: Cannot find module/],
    ['a module that throws', 'throw new Error("no licence");', '', '', /effects\.note\.module: .* cannot be loaded: no licence/],
    ['a module that is not JavaScript', 'export default {', '', '', /effects\.note\.module: .* cannot be loaded/],
    ['another export', RIGHT, 'export = "defualt"', '', /effects\.note\.export: .* exports nothing named "defualt"; did you mean "default"\?/],
    ['no effect', 'export default { perform() {} };', '', '', /effects\.note\.export: "default" of .* is not an effect; make it with defineEffect/],
    ['a declared look-up that it does not have', RIGHT, '', '[effects.note.lookup]', /effects\.note\.lookup: is declared, but .* has no lookup/],
    ['a look-up that is not declared', RIGHT.replace('succeeded() }', 'succeeded(), lookup() {} }'), '', '', /effects\.note\.lookup: is missing, but .* has a lookup/],
    ['a declared preview that it does not have', RIGHT, '', '[effects.note.approval]\npreview = { function = true }', /effects\.note\.approval\.preview: is declared/],
    ['a declared precondition that it does not have', RIGHT, '', '[effects.note.approval]\nprecondition = { function = true }', /effects\.note\.approval\.precondition: is declared/],
  ])('D19: %s → one ConfigError before the worker starts', async (_what, source, keys, sections, message) => {
    const failed = loadOne(source, keys, sections);
    await expect(failed).rejects.toMatchObject({ name: 'ConfigError', problems: [expect.anything()] });
    await expect(failed).rejects.toThrow(message);
  });
});
