import { describe, expect, it } from 'vitest';
import { requireSecrets } from '../../config/secrets.js';
import { load, messageOf, problemOf, RIGHT } from './config-support.js';

/** The right configuration with an effect that undoes `reserve`. */
const undo = (args: string, more = '', base = RIGHT): string => `${base}
[effects.give_back]
type = "http"
url = "http://127.0.0.1:9100/cancel"
input_schema = { type = "object", properties = { id = { type = "string" } } }
compensates = "reserve"
${more}
[effects.give_back.compensation]
args = ${args}
`;
const WITH_ID = RIGHT.replace('[effects.reserve]', '[effects.reserve]\nresult_id = "id"');

describe('an effect that undoes another one', () => {
  it.each([
    ['an argument that the undone effect does not have', undo('{ id = "{dat}" }', '', WITH_ID), '{dat} is neither {external_id} nor an argument of "reserve"; did you mean "date"?'],
    ['a placeholder of another place', undo('{ id = "{args.date}" }', '', WITH_ID), '{args.date} is neither {external_id} nor an argument of "reserve"'],
    ['the id of an effect that has none', undo('{ id = "{external_id}" }'), 'asks for {external_id}, but "reserve" has no result_id; declare it there, or use its arguments'],
  ])('D29, I5: that asks for %s is refused by key', (_what, toml, message) => {
    expect(problemOf(toml)).toContain(`effects.give_back.compensation.args: ${message}`);
  });

  it('D29: may ask for the id and for every argument', () => {
    expect(() => load(undo('{ id = "{external_id} of {date}" }', '', WITH_ID))).not.toThrow();
  });

  it('D29, I5: needs its secrets when the undone effect is used, although no agent has it as a tool', () => {
    const config = load(undo('{ id = "{date}" }', 'headers_env = { authorization = "UNDO_AUTH" }'));
    expect(messageOf(() => requireSecrets(config, {}))).toContain('effects.give_back.headers_env.authorization: the environment variable UNDO_AUTH is not set');
    expect(() => requireSecrets(config, { UNDO_AUTH: 'x' })).not.toThrow();
  });
});
