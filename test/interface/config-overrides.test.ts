import { describe, expect, it } from 'vitest';
import { withoutMemory } from '../../config/overrides.js';
import { broken, load, problemOf, RIGHT } from './config-support.js';

const URL_LINE = 'url = "http://127.0.0.1:9100/reservations"';
const RULES = '"offline"\nrules = [{ agent = "main", reply = "x" }, { agent = "main", after = "main", calls = [{ tool = "main" }] }]';

describe('I5b: AGENT_ID', () => {
  it('I5b: an existing agent becomes the default one and all keep their names', () => {
    const config = load(RIGHT, { AGENT_ID: 'helper' });
    expect(config.app.default_agent).toBe('helper');
    expect(Object.keys(config.agents)).toEqual(['main', 'helper']);
  });

  it('I5b: another name becomes the name of the default agent, wherever it is mentioned', () => {
    const config = load(broken('"offline"', RULES), { AGENT_ID: 'desk-7' });
    expect(config.app.default_agent).toBe('desk-7');
    expect(Object.keys(config.agents)).toEqual(['desk-7', 'helper']);
    expect(config.agents['desk-7']?.children).toEqual(['helper']);
    expect(config.models.default?.rules).toMatchObject([{ agent: 'desk-7' }, { agent: 'desk-7', after: 'desk-7', calls: [{ tool: 'desk-7' }] }]);
  });

  it('I5b: a renamed agent is renamed as a child and in the work memory too', () => {
    const toml = `${RIGHT.replace('default_agent = "main"', 'default_agent = "helper"')}\n[agents.summary]\ninstructions = "Summarise."\n[work_memory]\nenabled = true\npolicy = { helper = "both" }\n`;
    const config = load(toml, { AGENT_ID: 'checker' });
    expect(config.agents.main?.children).toEqual(['checker']);
    expect(config.work_memory.policy).toEqual({ checker: 'both' });
  });

  it('I5b: it makes naming a default agent unnecessary when it selects one', () => {
    expect(load(broken('default_agent = "main"', ''), { AGENT_ID: 'helper' }).app.default_agent).toBe('helper');
  });

  it('I5b: a name that is not allowed, or is taken, is blamed on the variable', () => {
    expect(problemOf(RIGHT, { AGENT_ID: 'my agent' })).toBe('environment: AGENT_ID = "my agent": letters, digits, "_" and "-", at most 64, starting with a letter');
    expect(problemOf(broken('default_agent = "main"', 'default_agent = "helper"'), { AGENT_ID: 'reserve' })).toMatch(/^environment: AGENT_ID: "reserve" is a child and an effect/);
  });

  it('I5b: a name like a built-in property is an ordinary name', () => {
    expect(Object.keys(load(RIGHT, { AGENT_ID: 'toString' }).agents)).toEqual(['toString', 'helper']);
  });
});

describe('I5: environment overrides', () => {
  it('I5: OPENAI_BASE_URL stands above openai and openai_compatible, and not above others', () => {
    const models = ['[models.a]\nprovider = "openai"\nmodel = "m"', '[models.b]\nprovider = "openai_compatible"\nmodel = "m"', '[models.c]\nprovider = "anthropic"\nmodel = "m"'];
    const config = load(`${models.join('\n')}\n${RIGHT}`, { OPENAI_BASE_URL: 'http://127.0.0.1:9200/v1' });
    expect(Object.values(config.models).map((model) => model.base_url)).toEqual(['http://127.0.0.1:9200/v1', 'http://127.0.0.1:9200/v1', undefined, undefined]);
  });

  it('C3: MEMORY_WINDOW_SIZE stands above every agent', () => {
    const config = load(RIGHT, { MEMORY_WINDOW_SIZE: '7' });
    expect(Object.values(config.agents).map((agent) => agent.memory.window_size)).toEqual([7, 7]);
  });

  it('C1: `dev --memory off` turns the memory of every agent off and changes nothing else', () => {
    const config = load(RIGHT);
    const off = withoutMemory(config);
    expect(Object.values(off.agents).map((agent) => agent.memory.backend)).toEqual(['off', 'off']);
    expect({ ...off, agents: Object.keys(off.agents) }).toEqual({ ...config, agents: Object.keys(config.agents) });
  });

  it.each([
    [{ MEMORY_WINDOW_SIZE: 'many' }, 'environment: MEMORY_WINDOW_SIZE = "many": must be a number'],
    [{ MEMORY_WINDOW_SIZE: '0' }, 'environment: MEMORY_WINDOW_SIZE = "0": must be at least 1'],
    [{ OPENAI_BASE_URL: 'localhost:80' }, 'environment: OPENAI_BASE_URL = "localhost:80": must be an address that starts with http:// or https://, without spaces'],
  ])('I5: a wrong variable %j is named', (env, message) => {
    expect(problemOf(RIGHT, env)).toBe(message);
  });

  it('I5: an empty variable counts as unset', () => {
    expect({ ...load(RIGHT, { AGENT_ID: '', MEMORY_WINDOW_SIZE: '', OPENAI_BASE_URL: '' }), dir: '' }).toEqual({ ...load(RIGHT), dir: '' });
  });
});

describe('I5: variables in addresses', () => {
  const toml = broken(URL_LINE, 'url = "${SHOP_URL:-http://127.0.0.1:9100}/reservations"');

  it('I5: the variable, or the default when it is unset or empty', () => {
    const effectWith = (env: Record<string, string>) => load(toml, env).effects.reserve;
    expect(effectWith({ SHOP_URL: 'https://shop.example' })).toMatchObject({ url: 'https://shop.example/reservations' });
    expect(effectWith({ SHOP_URL: '' })).toMatchObject({ url: 'http://127.0.0.1:9100/reservations' });
    expect(effectWith({})).toMatchObject({ url: 'http://127.0.0.1:9100/reservations' });
  });

  it('I5: a hostile value is checked like the file', () => {
    expect(problemOf(toml, { SHOP_URL: 'javascript:alert(1)' })).toMatch(/^holdfast\.toml: effects\.reserve\.url = .*must be an address/);
  });

  it('I5: only addresses are replaced; text and schemas stay as written', () => {
    const config = load(broken('instructions = "Help."', 'instructions = "Say ${SHOP_URL}."').replace('date = { type', 'url = { const = "${X}" }, date = { type'), { SHOP_URL: 'x' });
    expect(config.agents.main?.instructions).toBe('Say ${SHOP_URL}.');
    expect(config.effects.reserve?.input_schema).toMatchObject({ properties: { url: { const: '${X}' } } });
  });
});
