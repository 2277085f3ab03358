import { describe, expect, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { load, problemOf } from './config-support.js';

const MCP = `
[models.default]
provider = "offline"
[agents.main]
instructions = "Help."
effects = ["reserve"]
[effects.reserve]
type = "mcp"
command = "booking-mcp"
result_id = "id"
input_schema = { type = "object", properties = { date = { type = "string" } } }
[effects.reserve.idempotency]
argument = "key"
[effects.reserve.lookup]
tool = "find"
args = { key = "{key}" }
`;
const changed = (piece: string, by: string): string => MCP.replace(piece, by);

describe('effects of type mcp in the configuration (I5, D19)', () => {
  it('D34: the pinned definition holds names of variables only, and what errors mean', () => {
    const toml = changed('command = "booking-mcp"', 'url = "http://127.0.0.1:1/mcp"\nheaders_env = { Authorization = "BOOKING_TOKEN" }\ncorrelation = { argument = "reference" }');
    expect(compileAgents(load(toml, { BOOKING_TOKEN: 'secret-value' })).definitions[0]?.definition.effects[0]).toMatchObject({
      type: 'mcp', mcp: { server: { url: 'http://127.0.0.1:1/mcp', headersEnv: { Authorization: 'BOOKING_TOKEN' } }, tool: 'reserve', resultId: 'id', errors: 'uncertain' },
      idempotency: { argument: 'key', retentionMs: 86_400_000, onMismatch: 'conflict' }, lookup: { tool: 'find', args: { key: '{key}' }, absence: 'eventual' }, correlation: { argument: 'reference' },
    });
  });

  it.each([
    ['a program and an address', changed('command =', 'url = "http://127.0.0.1:1/mcp"\ncommand ='), 'effects.reserve.command: give either command (a program) or url (a server over HTTP)'],
    ['neither of them', changed('command = "booking-mcp"', ''), 'effects.reserve.command: give either command (a program) or url (a server over HTTP)'],
    ['a key in the place of an argument', changed('argument = "key"', 'argument = "date"'), 'effects.reserve.idempotency.argument: "date" is an argument of input_schema; the key needs a place of its own'],
    ['a reference in the place of an argument', changed('result_id', 'correlation = { argument = "date" }\nresult_id'), 'effects.reserve.correlation.argument: "date" is an argument of input_schema; the key needs a place of its own'],
    ['a look-up without the id to recognise', changed('result_id = "id"', ''), 'effects.reserve.result_id: is missing; with a look-up it tells an item that was found from any other answer'],
    ['a look-up that asks for nothing', changed('"{key}"', '"all"'), 'effects.reserve.lookup.args: must hold {key} or {args.NAME}, so that it asks for this one effect'],
    ['a look-up by a key that was never given', changed('[effects.reserve.idempotency]\nargument = "key"', ''), 'effects.reserve.lookup.args: asks by {key}, but the system is never given the key; add idempotency or correlation, or ask by {args.NAME}'],
    ['an unknown placeholder, also deep inside', changed('"{key}"', '[{ is = "{id}" }]'), 'effects.reserve.lookup.args: holds the unknown placeholder {id}; allowed are {key} and {args.NAME}'],
    ['an argument that does not exist', changed('"{key}"', '"{args.dat}"'), 'effects.reserve.lookup.args: {args.dat} is not an argument of input_schema; did you mean "date"?'],
    ['a preview', `${MCP}[effects.reserve.approval]\npreview = { url = "http://127.0.0.1:1" }`, 'effects.reserve.approval.preview: is not available for type "mcp"; the arguments are shown'],
    ['another meaning of errors', changed('result_id', 'errors = "failed"\nresult_id'), 'effects.reserve.errors = "failed": allowed: "rejected", "uncertain"'],
  ])('I5: %s → one clear error', (_what, toml, problem) => {
    expect(problemOf(toml)).toContain(`holdfast.toml: ${problem}`);
  });
});
