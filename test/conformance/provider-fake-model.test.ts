import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startFakeModel } from '../support/fake-model/index.js';
import { violationsOf } from '../support/fake-model/strict.js';

const user = { role: 'user', content: 'hello' };
const done = { role: 'assistant', content: 'hi' };
const call = (id: string, changes: object = {}) => ({ id, type: 'function', function: { name: 'reserve', arguments: '{}', ...changes } });
const calls = (...list: object[]) => ({ role: 'assistant', content: null, tool_calls: list });
const result = (id: string, content: unknown = 'ok') => ({ role: 'tool', tool_call_id: id, content });
const tool = (name: string, parameters: unknown = { type: 'object' }) => ({ type: 'function', function: { name, parameters } });
const body = (messages: unknown[], rest: object = {}) => ({ model: 'm', messages, ...rest });

describe('the strict transcript check', () => {
  it.each<[string, unknown]>([
    ['one user text', body([user])],
    ['system first', body([{ role: 'system', content: 'be kind' }, user])],
    ['two turns', body([user, done, user])],
    ['parallel calls, answered in any order', body([user, calls(call('a'), call('b')), result('b'), result('a')])],
    ['a user text after results', body([user, calls(call('a')), result('a'), user])],
    ['calls of two steps', body([user, calls(call('a')), result('a'), calls(call('b')), result('b')])],
    ['tools', body([user], { tools: [tool('a'), tool('b')] })],
  ])('D6: accepts %s', (_name, request) => {
    expect(violationsOf(request)).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    ['no object', [], /not an object/],
    ['no model', { messages: [user] }, /model is missing/],
    ['no messages', body([]), /at least one/],
    ['system in the middle', body([user, { role: 'system', content: 'x' }]), /cannot follow user/],
    ['assistant first', body([done, user]), /cannot follow start/],
    ['two user messages', body([user, user]), /cannot follow user/],
    ['two assistant messages', body([user, done, done, user]), /cannot follow assistant/],
    ['an answer at the end', body([user, done]), /last message is from assistant/],
    ['an unknown role', body([{ role: 'robot', content: 'x' }, user]), /unknown role/],
    ['an unanswered call', body([user, calls(call('a'), call('b')), result('a'), user]), /without a result before it: b/],
    ['an unanswered call at the end', body([user, calls(call('a'))]), /without a result at the end: a/],
    ['a late answer', body([user, calls(call('a')), done, user, result('a')]), /without a result before it: a/],
    ['a call answered twice', body([user, calls(call('a')), result('a'), result('a')]), /no open call/],
    ['a result without a call', body([user, result('a')]), /no open call/],
    ['a call id used twice in one message', body([user, calls(call('a'), call('a')), result('a'), result('a')]), /used twice/],
    ['a call id used again later', body([user, calls(call('a')), result('a'), calls(call('a')), result('a')]), /used twice/],
    ['a long call id', body([user, calls(call('x'.repeat(41))), result('x'.repeat(41))]), /not allowed/],
    ['a call id with a dot', body([user, calls(call('a.b')), result('a.b')]), /not allowed/],
    ['a bad tool name', body([user, calls(call('a', { name: 'a b' })), result('a')]), /tool name/],
    ['arguments cut off', body([user, calls(call('a', { arguments: '{"a' })), result('a')]), /not a JSON object/],
    ['empty arguments', body([user, calls(call('a', { arguments: '' })), result('a')]), /not a JSON object/],
    ['arguments in a list', body([user, calls(call('a', { arguments: '[]' })), result('a')]), /not a JSON object/],
    ['a lone surrogate in arguments', body([user, calls(call('a', { arguments: '{"x":"\\ud800"}' })), result('a')]), /lone surrogate/],
    ['an empty list of calls', body([user, { role: 'assistant', content: 'x', tool_calls: [] }, user]), /at least one/],
    ['blank user text', body([{ role: 'user', content: ' \n' }]), /blank/],
    ['blank assistant text', body([user, { role: 'assistant', content: '' }, user]), /blank/],
    ['blank text next to calls', body([user, { ...calls(call('a')), content: ' ' }, result('a')]), /blank/],
    ['null without calls', body([user, { role: 'assistant', content: null }, user]), /not text/],
    ['an empty result', body([user, calls(call('a')), result('a', '')]), /empty/],
    ['a result that is no text', body([user, calls(call('a')), result('a', { ok: true })]), /empty/],
    ['NUL', body([{ role: 'user', content: 'a\0' }]), /NUL/],
    ['half a surrogate pair', body([{ role: 'user', content: 'a\ud83d' }]), /lone surrogate/],
    ['an empty list of tools', body([user], { tools: [] }), /at least one/],
    ['two tools of one name', body([user], { tools: [tool('a'), tool('a')] }), /same name/],
    ['a bad name of a tool', body([user], { tools: [tool('a.b')] }), /not allowed/],
    ['a schema that is no object', body([user], { tools: [tool('a', { type: 'string' })] }), /schema of type object/],
    ['streaming', body([user], { stream: true }), /streaming/],
  ])('D6: refuses %s', (_name, request, reason) => {
    expect(violationsOf(request).join('\n')).toMatch(reason);
  });
});

const post = (url: string, request: unknown) => fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(request) });
const textOf = async (response: Response): Promise<unknown> => (await response.json() as { choices: { message: { content: unknown } }[] }).choices[0]?.message.content;

describe('the fake model', () => {
  it('I14: refuses an ill-formed transcript with the reason, records it and does not use up the script', async () => {
    const fake = await startFakeModel();
    fake.script([{ text: 'one' }]);
    const refused = await post(fake.url, body([user, user]));
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('cannot follow user')]);
    expect(fake.violations).toEqual([expect.stringContaining('request 1: messages[1]')]);
    expect(await textOf(await post(fake.url, body([user])))).toBe('one');
    expect((await post(fake.url, body([user]))).status, 'nothing left').toBe(400);
    expect(fake.requests).toHaveLength(3);
    await fake.close();
  });

  it('I14: the first rule that matches and is not used up answers', async () => {
    const fake = await startFakeModel();
    fake.script([
      { nth: 2, reply: { text: 'second' } },
      { whenLastUserIncludes: 'hello', whenLastRole: 'user', times: 1, reply: { text: 'once' } },
      { whenLastToolIncludes: 'sold out', reply: { text: 'sorry' } },
      { whenSystemIncludes: 'kind', reply: { text: 'kind' } },
      { reply: { text: 'other' } },
    ]);
    const texts: unknown[] = [];
    for (const messages of [[user], [user], [user], [user, calls(call('a')), result('a', 'sold out')], [{ role: 'system', content: 'be kind' }, user]]) {
      texts.push(await textOf(await post(fake.url, body(messages))));
    }
    expect(texts).toEqual(['once', 'second', 'other', 'sorry', 'kind']);
    await fake.close();
  });

  it('I14: runs as a process of its own, controlled over HTTP', async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('../support/fake-model/main.mjs', import.meta.url))], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const line = await new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
    const { url } = JSON.parse(line) as { url: string };
    const origin = new URL(url).origin;
    const put = (script: unknown) => fetch(`${origin}/script`, { method: 'PUT', body: JSON.stringify(script) });
    expect((await put([{ whenUser: 'x' }])).status).toBe(400);
    expect((await put([{ whenLastUserIncludes: 'hello', reply: { text: 'from outside' } }])).status).toBe(200);
    expect(await textOf(await post(url, body([user])))).toBe('from outside');
    await post(url, body([done]));
    expect(await (await fetch(`${origin}/requests`)).json()).toHaveLength(2);
    expect(await (await fetch(`${origin}/violations`)).json()).toContainEqual(expect.stringContaining('cannot follow start'));
    child.kill();
    await ended;
  });
});
