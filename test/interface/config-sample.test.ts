import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { loadConfig } from '../../config/load.js';
import { requireSecrets } from '../../config/secrets.js';
import type { Message } from '../../contracts/message.js';
import { answerOffline } from '../../domain/offline.js';

const cwd = fileURLToPath(new URL('../../', import.meta.url));
const config = loadConfig({ cwd, env: {} });
const { definitions } = compileAgents(config);
const definition = (agent: string) => definitions.find((item) => item.definition.name === agent)?.definition;

const ENGLISH = 'Book a table for 4 people on 2026-12-24 at 19:00 for Kim';
const KOREAN = '2026-12-24 19:00에 4명 예약해 주세요, 이름은 김하늘';
const RESERVED = '{"id":"r-1","date":"2026-12-24","time":"19:00","people":4,"name":"Kim","status":"confirmed"}';

/** Answer of an agent to a user text, after a tool's result if one is given. */
function answer(agent: string, user: string, after?: { name: string; text: string }) {
  const call: Message[] = after === undefined ? [] : [
    { role: 'assistant', text: '', calls: [{ id: 'c', name: after.name, args: {} }] }, { role: 'tool', callId: 'c', name: after.name, text: after.text },
  ];
  return answerOffline(definition(agent)?.model.rules ?? [], { agent, messages: [{ role: 'user', text: user }, ...call] });
}

describe('I1: the sample', () => {
  it('I1: it needs no secret and no variable', () => {
    expect(() => requireSecrets(config, {})).not.toThrow();
    expect(config.effects.reserve).toMatchObject({ url: 'http://127.0.0.1:9100/reservations' });
    expect(loadConfig({ cwd, env: { BOOKING_URL: 'http://127.0.0.1:1' } }).effects.reserve).toMatchObject({
      url: 'http://127.0.0.1:1/reservations', lookup: { url: 'http://127.0.0.1:1/reservations?key={key}' }, approval: { preview: { url: 'http://127.0.0.1:1/preview' } },
    });
  });

  it('I1: it shows a child, a summary, an approval and a recoverable effect', () => {
    expect(definition('booking')).toMatchObject({
      children: [{ name: 'verification', kind: 'model' }], summary: { agent: 'summary', timing: 'before_finalize', policy: { verification: 'both' } },
      effects: [{ name: 'reserve', idempotency: { header: 'Idempotency-Key' }, lookup: { absence: 'authoritative', settleAfterMs: 2000 }, approval: { expiresInMs: 900_000 } }],
    });
  });

  it.each([['English', ENGLISH, 'Kim'], ['Korean', KOREAN, '김하늘'], ['Korean, polite', `${KOREAN}입니다.`, '김하늘']])('I6: a request in %s goes to the child, then to the effect', (_, text, name) => {
    const toChild = answer('booking', text)?.calls[0];
    expect(toChild?.tool).toBe('verification');
    const verified = answer('verification', String(toChild?.args.text))?.text ?? '';
    expect(verified).toMatch(/^complete/);
    expect(answer('booking', text, { name: 'verification', text: verified })?.calls).toEqual([
      { tool: 'reserve', args: { date: '2026-12-24', time: '19:00', people: 4, name } },
    ]);
    expect(answer('booking', text, { name: 'reserve', text: RESERVED })?.text).toContain('r-1');
  });

  it.each(['rejected', 'expired', 'cancelled', 'failed', 'invalid'])('D28: after a result "%s" no booking is claimed', (status) => {
    const text = answer('booking', ENGLISH, { name: 'reserve', text: JSON.stringify({ status, message: 'because' }) })?.text;
    expect(text).toMatch(/^Nothing was booked.*because$/);
  });

  it('D28: an unknown result is told as unknown', () => {
    expect(answer('booking', ENGLISH, { name: 'reserve', text: '{"status":"unknown","message":"m"}' })?.text).toMatch(/^It is not known/);
  });

  it('I6: a failed child books nothing', () => {
    expect(answer('booking', ENGLISH, { name: 'verification', text: '{"status":"failed","message":"m"}' })).toMatchObject({ calls: [], text: expect.stringMatching(/nothing was booked/) as string });
  });

  it.each([['hello', 'I book restaurant tables'], ['안녕하세요', '식당 예약'], ['Please cancel r-1', 'I can only book tables']])('I6: "%s" gets a helpful text', (text, reply) => {
    expect(answer('booking', text)).toMatchObject({ calls: [], text: expect.stringContaining(reply) as string });
  });
});
