import { describe, expect, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { load, problemOf, RIGHT } from './config-support.js';

const SUMMARY = `${RIGHT}\n[agents.summary]\ninstructions = "Summarise."\n[work_memory]\nenabled = true\n`;
const compiled = (toml: string) => compileAgents(load(toml));
const definitionOf = (toml: string, agent: string) => compiled(toml).definitions.find(({ definition }) => definition.name === agent)?.definition;

describe('D34: compiled agents', () => {
  it('D34: the same configuration gives the same digests, whatever the order of its tables', () => {
    const [models = '', rest = ''] = RIGHT.split('[agents.main]');
    expect(compiled(`[agents.main]${rest}${models}`).current).toEqual(compiled(RIGHT).current);
  });

  it('D34: a change to a child changes its parent, and not the other way round', () => {
    const before = compiled(RIGHT).current;
    const childChanged = compiled(RIGHT.replace('"Check."', '"Check twice."')).current;
    expect([childChanged.main === before.main, childChanged.helper === before.helper]).toEqual([false, false]);
    const parentChanged = compiled(RIGHT.replace('"Help."', '"Help more."')).current;
    expect([parentChanged.main === before.main, parentChanged.helper === before.helper]).toEqual([false, true]);
  });

  it('D34: a parent pins the digest of its child, and every child has a description', () => {
    const { current } = compiled(RIGHT);
    expect(definitionOf(RIGHT, 'main')?.children).toEqual([{ name: 'helper', kind: 'model', description: 'Asks the agent "helper".', input: 'context', digest: current.helper, detached: null }]);
  });

  it('D34: rules of other agents do not change what an agent means', () => {
    const withRule = RIGHT.replace('"offline"', '"offline"\nrules = [{ agent = "main", reply = "x" }]');
    expect(compiled(withRule).current.helper).toBe(compiled(RIGHT).current.helper);
    expect(definitionOf(withRule, 'main')?.model.rules).toEqual([{ agent: 'main', user: null, after: null, result: null, reply: 'x', calls: [] }]);
  });

  it('D34: defaults of an effect are written out, times in milliseconds', () => {
    expect(definitionOf(RIGHT, 'main')?.effects).toEqual([{
      name: 'reserve', type: 'http', description: 'Performs "reserve".', inputSchema: { type: 'object', properties: { date: { type: 'string' } } },
      sequential: false, timeoutMs: 10_000, maxConcurrent: null, compensates: null, compensatedBy: null,
      http: { method: 'POST', url: 'http://127.0.0.1:9100/reservations', headersEnv: {}, resultId: null, rejects: [400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422] },
      idempotency: { header: 'Idempotency-Key', retentionMs: 86_400_000, onMismatch: 'conflict' },
      lookup: { url: 'http://127.0.0.1:9100/reservations?key={key}', absence: 'eventual', settleAfterMs: 2000, everyMs: 30_000 },
      correlation: null, unknown: { retry: 'never' }, approval: null,
    }]);
  });

  it('D26: the keys of an approval arrive in the definition, and "required = false" switches it off', () => {
    const section = (lines: string) => `${RIGHT}\n[effects.reserve.approval]\n${lines}\n`;
    expect(definitionOf(section(''), 'main')?.effects[0]?.approval).toEqual({
      expiresInMs: 900_000, roles: ['approver'], approvers: 1, requesterMayApprove: true, attempts: 1, preview: null, precondition: null,
    });
    expect(definitionOf(section('approvers = 2\nrequester_may_approve = false\nexpires_in = "1m"'), 'main')?.effects[0]?.approval)
      .toMatchObject({ approvers: 2, requesterMayApprove: false, expiresInMs: 60_000 });
    expect(definitionOf(section('required = false'), 'main')?.effects[0]?.approval).toBeNull();
  });

  it('D13: correlation and bounded retry arrive in the definition', () => {
    const effect = definitionOf(`${RIGHT}\n[effects.reserve.unknown]\nretry = { max_attempts = 3, every = "1m" }\n[effects.reserve.correlation]\nfield = "reference"\n`, 'main')?.effects[0];
    expect(effect).toMatchObject({ unknown: { retry: 'bounded', maxAttempts: 3, everyMs: 60_000 }, correlation: { field: 'reference' } });
  });

  it('I5: an agent with ask_user runs as an agent when it is a child', () => {
    const toml = RIGHT.replace('instructions = "Check."', 'instructions = "Check."\nask_user = true');
    expect(definitionOf(toml, 'main')?.children[0]?.kind).toBe('agent');
  });
});

describe('W6: summaries', () => {
  it('W6: a child without a policy is refused by name', () => {
    expect(problemOf(SUMMARY)).toBe('holdfast.toml: work_memory.policy: the child "helper" has no policy; add helper = "none", "request", "response" or "both"');
  });

  it('W6: the summary agent may not be summarised', () => {
    expect(problemOf(`${SUMMARY}policy = { helper = "both", summary = "both" }\n`)).toMatch(/^holdfast\.toml: work_memory\.policy\.summary: the summary agent itself may not be summarised/);
  });

  it('W6: the summary agent must exist and be one prompted call', () => {
    expect(problemOf(`${SUMMARY}policy = { helper = "both" }\nsummary_agent = "sumary"\n`)).toContain('work_memory.summary_agent: the agent "sumary" does not exist; did you mean "summary"?');
    expect(problemOf(`${SUMMARY}policy = { helper = "both" }\nsummary_agent = "main"\n`)).toContain('"main" must be one prompted call');
  });

  it('W6: a policy for something that is no child is refused with what exists', () => {
    expect(problemOf(`${SUMMARY}policy = { helper = "both", helpr = "none" }\n`)).toBe('holdfast.toml: work_memory.policy.helpr: "helpr" is not a child of any agent; did you mean "helper"? (allowed: helper)');
  });

  it('W6: only agents with children to summarise carry the policy, with the digest of the summary agent', () => {
    const toml = `${SUMMARY}policy = { helper = "response" }\n`;
    expect(definitionOf(toml, 'main')?.summary).toEqual({ agent: 'summary', digest: compiled(toml).current.summary, timing: 'turn_end', policy: { helper: 'response' } });
    expect(definitionOf(toml, 'helper')?.summary).toBeNull();
    expect(definitionOf(`${SUMMARY}policy = { helper = "none" }\n`, 'main')?.summary).toBeNull();
  });

  it('W6: with work memory off nothing is asked for', () => {
    expect(definitionOf(RIGHT, 'main')?.summary).toBeNull();
  });
});
