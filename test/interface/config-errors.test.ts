import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.js';
import { requireSecrets } from '../../config/secrets.js';
import { broken, load, messageOf, problemOf, RIGHT } from './config-support.js';

const HELPER = 'instructions = "Check."';
const MAIN = 'instructions = "Help."';
const URL_LINE = 'url = "http://127.0.0.1:9100/reservations"';
const SCHEMA = 'input_schema = { type = "object", properties = { date = { type = "string" } } }';
const LOOKUP = 'url = "http://127.0.0.1:9100/reservations?key={key}"';

/** situation, configuration, the whole message */
const ONE_MESSAGE: [string, string, string][] = [
  ['a wrong type', broken(MAIN, `${MAIN}\nmax_steps = "many"`), 'holdfast.toml: agents.main.max_steps = "many": must be a whole number'],
  ['a number out of range', broken(MAIN, `${MAIN}\nmax_steps = 0`), 'holdfast.toml: agents.main.max_steps = 0: must be at least 1'],
  ['a word that is not allowed', broken('"offline"', '"oflline"'),
    'holdfast.toml: models.default.provider = "oflline": allowed: "openai", "anthropic", "google", "openai_compatible", "offline"'],
  ['a budget in dollars over a model without a price', `${broken('provider = "offline"', 'provider = "openai_compatible"\nbase_url = "http://127.0.0.1:1"\nmodel = "m"')}\n[agents.main.budget]\ncost_usd = 1\n`, 'holdfast.toml: agents.main.budget.cost_usd: cannot be counted: give models.default a price, such as { input = 0.5, output = 1.5 } (US dollars for a million tokens)'],
  ['a budget in dollars over a summary agent without a price',
    `${RIGHT}\n[models.dear]\nprovider = "openai_compatible"\nbase_url = "http://127.0.0.1:1"\nmodel = "m"\n[agents.summary]\ninstructions = "Sum up."\nmodel = "dear"\n[work_memory]\nenabled = true\n[work_memory.policy]\nhelper = "both"\n[agents.main.budget]\ncost_usd = 1\n`,
    'holdfast.toml: agents.main.budget.cost_usd: cannot be counted: give models.dear a price, such as { input = 0.5, output = 1.5 } (US dollars for a million tokens)'],
  ['more calls for an unknown outcome than its approval permits', `${RIGHT}\n[effects.reserve.unknown]\nretry = { max_attempts = 3 }\n[effects.reserve.approval]\nattempts = 2\n`, 'holdfast.toml: effects.reserve.approval.attempts: is 2, but unknown.retry asks for up to 3 calls; make both the same'],
  ['a missing key', broken('type = "http"', ''), 'holdfast.toml: effects.reserve.type: is missing; allowed: "http", "postgres", "smtp", "mcp", "function"'],
  ['an unknown key of the document', `${RIGHT}\n[agent.x]\n`, 'holdfast.toml: agent: unknown key; did you mean "agents"? (allowed: app, models, agents, children, effects, work_memory)'],
  ['a bad duration', broken(URL_LINE, `${URL_LINE}\ntimeout = "10 seconds"`),
    'holdfast.toml: effects.reserve.timeout = "10 seconds": must be a duration such as "500ms", "10s", "15m", "24h" or "7d"'],
  ['a duration as a number', broken(URL_LINE, `${URL_LINE}\ntimeout = 10`),
    'holdfast.toml: effects.reserve.timeout = 10: must be a duration such as "500ms", "10s", "15m", "24h" or "7d"'],
  ['a duration out of range', broken(URL_LINE, `${URL_LINE}\ntimeout = "0s"`), 'holdfast.toml: effects.reserve.timeout = "0s": must be between "1ms" and "24h"'],
  ['a bad name', broken('[agents.helper]', '[agents."my helper"]'),
    'holdfast.toml: agents."my helper": this name is not allowed: letters, digits, "_" and "-", at most 64, starting with a letter'],
  ['a child that does not exist', broken('["helper"]', '["helpr"]'),
    'holdfast.toml: agents.main.children: "helpr" does not exist; did you mean "helper"? (allowed: main, helper)'],
  ['an effect that does not exist', broken('effects = ["reserve"]', 'effects = ["pay"]'), 'holdfast.toml: agents.main.effects: "pay" does not exist; allowed: reserve'],
  ['a model that does not exist', broken(HELPER, `${HELPER}\nmodel = "fast"`), 'holdfast.toml: agents.helper.model: "fast" does not exist; allowed: default'],
  ['a default agent that does not exist', broken('default_agent = "main"', 'default_agent = "boss"'),
    'holdfast.toml: app.default_agent: the agent "boss" does not exist; allowed: main, helper'],
  ['several agents and no default', broken('default_agent = "main"', ''),
    'holdfast.toml: app.default_agent: is missing; there are several agents, so name one of them: main, helper'],
  ['a cycle', broken(HELPER, `${HELPER}\nchildren = ["main"]`), 'holdfast.toml: agents.main.children: children must not lead back to their parent: main → helper → main'],
  ['an agent that is its own child', broken(HELPER, `${HELPER}\nchildren = ["helper"]`),
    'holdfast.toml: agents.helper.children: children must not lead back to their parent: helper → helper'],
  ['one name for a child and an effect', broken('[agents.helper]', '[agents.reserve]').replace('["helper"]', '["reserve"]'),
    'holdfast.toml: agents.main: "reserve" is a child and an effect of this agent; tools need different names'],
  ['the name of the built-in tool', broken('[agents.helper]', '[agents.ask_user]').replace('["helper"]', '["ask_user"]'),
    'holdfast.toml: agents.main: "ask_user" is the name of a built-in tool; rename the child or effect'],
  ['a prompted call with tools', broken(MAIN, `${MAIN}\nkind = "model"`),
    'holdfast.toml: agents.main.kind: "model" is one prompted call and has no tools; use "agent", or leave out children, effects, ask_user and detached'],
  ['a schema that is not an object', broken('type = "object"', 'type = "string"'), 'holdfast.toml: effects.reserve.input_schema.type: must be "object": arguments are always an object'],
  ['both a schema and a file', broken(SCHEMA, `${SCHEMA}\ninput_schema_file = "s.json"`),
    'holdfast.toml: effects.reserve.input_schema: give either this or effects.reserve.input_schema_file, not both'],
  ['no instructions', broken(HELPER, ''), 'holdfast.toml: agents.helper.instructions: is missing; give it or agents.helper.instructions_file'],
  ['a look-up for nothing in particular', broken(LOOKUP, 'url = "http://127.0.0.1:9100/reservations"'),
    'holdfast.toml: effects.reserve.lookup.url: must hold {key} or {args.NAME}, so that it asks for this one effect'],
  ['a look-up by an argument that does not exist', broken('{key}', '{args.dat}'),
    'holdfast.toml: effects.reserve.lookup.url: {args.dat} is not an argument of input_schema; did you mean "date"? (allowed: date)'],
  ['a look-up by a key that the system never gets', broken('[effects.reserve.idempotency]', ''),
    'holdfast.toml: effects.reserve.lookup.url: asks by {key}, but the system is never given the key; add idempotency or correlation, or ask by {args.NAME}'],
  ['a key in a field of the arguments', broken(URL_LINE, `${URL_LINE}\ncorrelation = { field = "date" }`),
    'holdfast.toml: effects.reserve.correlation.field: "date" is an argument of input_schema; the key needs a place of its own'],
  ['a header with two sources', broken(URL_LINE, `${URL_LINE}\nheaders_env = { idempotency-key = "X" }`),
    'holdfast.toml: effects.reserve.headers_env: the header "idempotency-key" is given twice (headers_env, idempotency, correlation)'],
  ['an unknown retry', broken('[effects.reserve.idempotency]', '[effects.reserve.unknown]\nretry = "always"\n[effects.reserve.idempotency]'),
    'holdfast.toml: effects.reserve.unknown.retry = "always": must be "never" or { max_attempts = 3, every = "30s" }'],
  ['an empty correlation', broken(URL_LINE, `${URL_LINE}\ncorrelation = {}`), 'holdfast.toml: effects.reserve.correlation = {…}: must be { header = "…" } or { field = "…" }'],
  ['a variable without value and default', broken(URL_LINE, 'url = "${SHOP_URL}/x"'),
    'holdfast.toml: effects.reserve.url: the environment variable SHOP_URL is not set and has no default; set it or write ${SHOP_URL:-default}'],
  ['a host chosen by arguments', broken(LOOKUP, 'url = "http://{args.date}/x"'),
    'holdfast.toml: effects.reserve.lookup.url = "http://{args.date}/x": must be an address that starts with http:// or https://, without spaces'],
  ['a pattern that is none', broken('"offline"', '"offline"\nrules = [{ user = "(", reply = "x" }]'),
    'holdfast.toml: models.default.rules[0].user: this is not a regular expression: Invalid regular expression: /(/u: Unterminated group'],
  ['a rule that says nothing', broken('"offline"', '"offline"\nrules = [{ user = "x" }]'), 'holdfast.toml: models.default.rules[0]: give reply, calls or both'],
  ['a model without its name', broken('"offline"', '"openai"'), 'holdfast.toml: models.default.model: is missing; name the model of provider "openai"'],
  ['a compatible model without address', broken('"offline"', '"openai_compatible"\nmodel = "m"'), 'holdfast.toml: models.default.base_url: is missing; give it or set OPENAI_BASE_URL'],
  ['a child that sees the conversation and causes effects', broken(HELPER, `${HELPER}\ninput = "conversation"\neffects = ["reserve"]`),
    'holdfast.toml: agents.helper.input: "conversation" is for children that cause no effects, neither themselves nor through their own children; use "context"'],
  ['no agent', '[models.default]\nprovider = "offline"', 'holdfast.toml: agents: define at least one [agents.NAME]'],
];

describe('I5: bad configuration has one clear message', () => {
  it.each(ONE_MESSAGE)('I5: %s', (_, toml, message) => {
    expect(problemOf(toml)).toBe(message);
  });

  it('I5: the configuration that the others break is right', () => {
    expect(load(RIGHT).app.default_agent).toBe('main');
  });

  it('I5: an unknown key gets the nearest one and the list of what is allowed', () => {
    expect(problemOf(broken(MAIN, `${MAIN}\nmax_stpes = 5`))).toMatch(/^holdfast\.toml: agents\.main\.max_stpes: unknown key; did you mean "max_steps"\? \(allowed: instructions, /);
  });

  it('I5: a schema that does not compile names its effect', () => {
    expect(problemOf(broken('date = { type = "string" }', 'date = { type = "date" }'))).toMatch(/^holdfast\.toml: effects\.reserve\.input_schema: this is not a JSON Schema \(2020-12\): /);
  });

  it('I5: all problems are reported at once, a line each', () => {
    expect(problemOf(broken(MAIN, `${MAIN}\nmax_steps = 0\ncolour = "red"\ncontext_turns = "x"`)).split('\n')).toHaveLength(3);
  });

  it.each(['judge', 'review', 'guardrails'])('I5b: the key "%s" of a later version is called that', (key) => {
    expect(problemOf(broken(MAIN, `${MAIN}\n${key} = {}`))).toBe(`holdfast.toml: agents.main.${key}: is not available in this version`);
  });

  it('I5b: long-term memory is not available in this version', () => {
    expect(problemOf(`${RIGHT}\n[long_term_memory]\n`)).toBe('holdfast.toml: long_term_memory: is not available in this version');
  });

  it.each(['in-memory', 'in_memory'])('C1: backend "%s" is refused and the right way is named', (spelling) => {
    const message = problemOf(broken(MAIN, `${MAIN}\nmemory = { backend = "${spelling}" }`));
    expect(message).toMatch(new RegExp(`^holdfast\\.toml: agents\\.main\\.memory\\.backend = "${spelling}": `));
    expect(message).toContain('`holdfast dev --memory in-memory`');
  });

  it('C1: another unknown backend lists the allowed ones', () => {
    expect(problemOf(broken(MAIN, `${MAIN}\nmemory = { backend = "sqlite" }`))).toBe('holdfast.toml: agents.main.memory.backend = "sqlite": allowed: "postgres", "off"');
  });
});

describe('I5: files', () => {
  it('I5: a syntax error names line and column and quotes nothing of the file', () => {
    const message = problemOf('[models.default]\nprovider = "offline"\napi_key = sk-verysecret\n');
    expect(message).toMatch(/^holdfast\.toml: line 3, column \d+: this is not valid TOML: /);
    expect(message).not.toContain('verysecret');
  });

  it('I5: a missing file is named with the way out', () => {
    expect(messageOf(() => loadConfig({ file: 'nothing.toml', cwd: '/', env: {} }))).toMatch(/^nothing\.toml: the file: there is no \/nothing\.toml; create it or name another one/);
  });

  it('I5: files that the configuration names are read from beside it', () => {
    const config = load(broken(MAIN, 'instructions_file = "main.md"').replace(SCHEMA, 'input_schema_file = "s.json"'), {}, {
      'main.md': 'From a file.', 's.json': '{"type":"object","properties":{"date":{}}}',
    });
    expect(config.agents.main?.instructions).toBe('From a file.');
    expect(config.effects.reserve?.input_schema).toEqual({ type: 'object', properties: { date: {} } });
  });

  it('I5: a schema file that is not JSON names key and file', () => {
    const toml = broken(SCHEMA, 'input_schema_file = "s.json"');
    expect(problemOf(toml, {}, { 's.json': '{' })).toBe('holdfast.toml: effects.reserve.input_schema_file: s.json: this is not valid JSON');
    expect(problemOf(toml)).toMatch(/^holdfast\.toml: effects\.reserve\.input_schema_file: there is no .*s\.json/);
  });
});

describe('I5: secrets', () => {
  const ONLINE = broken('"offline"', '"openai"\nmodel = "m"');

  it('I5: a secret that is not set names file, key and variable when a worker starts', () => {
    const config = load(ONLINE.replace(URL_LINE, () => `${URL_LINE}\nheaders_env = { Authorization = "SHOP_AUTH" }`));
    expect(messageOf(() => requireSecrets(config, { OPENAI_API_KEY: '' }))).toBe([
      'holdfast.toml: models.default.api_key_env: the environment variable OPENAI_API_KEY is not set; set it before the worker starts',
      'holdfast.toml: effects.reserve.headers_env.Authorization: the environment variable SHOP_AUTH is not set; set it before the worker starts',
    ].join('\n'));
    expect(() => requireSecrets(config, { OPENAI_API_KEY: 'x', SHOP_AUTH: 'y' })).not.toThrow();
  });

  it('I5: the offline model and a compatible server without key need none', () => {
    expect(() => requireSecrets(load(RIGHT), {})).not.toThrow();
    expect(() => requireSecrets(load(broken('"offline"', '"openai_compatible"\nmodel = "m"\nbase_url = "http://x/v1"')), {})).not.toThrow();
  });

  it.each([
    ['as the name of a variable', ONLINE.replace('model = "m"', 'model = "m"\napi_key_env = "sk-verysecret"')],
    ['under a key of its own', ONLINE.replace('model = "m"', 'model = "m"\napi_key = "sk-verysecret"')],
    ['in an address', broken(URL_LINE, 'url = "http://user:verysecret@host/x"')],
    ['in the query of a bad address', broken(URL_LINE, 'url = "ftp://host/x?sig=verysecret"')],
  ])('I5: a secret that stands in the file %s is refused and not repeated', (_, toml) => {
    expect(problemOf(toml)).not.toContain('verysecret');
  });

  it('I5: a variable that holds a secret does not go into an address, which is stored', () => {
    expect(problemOf(broken(URL_LINE, 'url = "http://host/${SHOP_TOKEN}"'), { SHOP_TOKEN: 'verysecret' })).toMatch(/the variable SHOP_TOKEN looks like a secret/);
  });
});
