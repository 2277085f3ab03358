import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';

const WAIT = { timeout: 10_000, interval: 20 };

let booking: Booking;
beforeAll(async () => { booking = await startBooking({ seats: 40 }); });
afterAll(() => booking.stop());
afterEach(async () => {
  await booking.release();
  await booking.clearFaults();
});

interface Answer { status: number; body: Record<string, unknown> }
async function post(key: string | null, args: unknown = { date: '2026-12-24', people: 1 }, headers: Record<string, string> = {}, to = booking): Promise<Answer> {
  const response = await fetch(`${to.url}/reservations`, { method: 'POST', body: JSON.stringify(args), headers: { ...(key && { 'Idempotency-Key': key }), ...headers } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const get = async (path: string, to = booking): Promise<unknown> => (await fetch(`${to.url}${path}`)).json();
const effects = async (key: string, to = booking) => (await to.log()).filter((e) => e.key === key || e.reference === key);

describe('booking server: reservations', () => {
  it('I15: makes a reservation and shows it', async () => {
    const made = await post('show', { date: '2026-12-24', time: '19:00', people: 2, name: 'Kim' });
    expect(made).toMatchObject({ status: 201, body: { date: '2026-12-24', time: '19:00', people: 2, name: 'Kim', status: 'confirmed' } });
    expect(await get(`/reservations/${String(made.body['id'])}`)).toEqual(made.body);
    expect(await get('/reservations?key=show')).toEqual([made.body]);
    expect(await get('/reservations?key=nobody')).toEqual([]);
  });

  it('D14: same key and body, the same reservation; other body, 409; ten at once, one reservation', async () => {
    const [first, again] = [await post('same'), await post('same', { people: 1, date: '2026-12-24' })];
    expect(again.body).toEqual(first.body);
    expect((await post('same', { date: '2026-12-25', people: 1 })).status).toBe(409);
    await Promise.all(Array.from({ length: 10 }, () => post('crowd')));
    expect(await effects('crowd')).toHaveLength(1);
    expect(await booking.posts()).toMatchObject({ same: 3, crowd: 10 });
  });

  it('D13: without a key every POST makes one; references are found', async () => {
    await post(null, { date: '2026-12-26', people: 1, reference: 'ref-1' });
    await post(null, { date: '2026-12-26', people: 1 }, { 'X-Ref': 'ref-1' });
    expect(await get('/reservations?key=ref-1')).toHaveLength(2);
  });

  it.each([
    [{ date: '2026-02-30', people: 1 }], [{ date: 'tomorrow', people: 1 }], [{ people: 1 }], [{ date: '2026-12-24', people: 0 }],
    [{ date: '2026-12-24', people: 21 }], [{ date: '2026-12-24', people: '2' }], [{ date: '2026-12-24', people: 1, time: '25:00' }], [[]], [null],
  ])('I15: refuses %j', async (args) => {
    expect((await post('bad', args)).status).toBe(422);
    expect(await effects('bad')).toHaveLength(0);
  });

  it('D25: seats run out; availability and preview say so; a cancelled reservation gives them back', async () => {
    const day = '2026-11-01';
    expect((await post('a', { date: day, people: 20 })).status).toBe(201);
    const second = await post('b', { date: day, people: 19 });
    expect(await get(`/availability?date=${day}&people=2`)).toEqual({ available: false, seatsLeft: 1 });
    expect((await post('c', { date: day, people: 2 })).body['error']).toBe('fully_booked');
    await fetch(`${booking.url}/reservations/${String(second.body['id'])}`, { method: 'DELETE' });
    const preview = await fetch(`${booking.url}/preview`, { method: 'POST', body: JSON.stringify({ key: 'p', args: { date: day, people: 4 } }) });
    expect(await preview.json()).toMatchObject({ before: { seatsLeft: 20 }, after: { people: 4, seatsLeft: 16 } });
  });
});

describe('booking server: faults', () => {
  it('D36: a failure before has no effect, after it has; each strikes as often as asked', async () => {
    await booking.setFaults({ failNext: { status: 503, when: 'before', headers: { 'retry-after': '3' } } });
    expect((await post('f-before')).status).toBe(503);
    await booking.setFaults({ failNext: { count: 2, status: 500, when: 'after' } });
    expect([(await post('f-after')).status, (await post('f-after')).status, (await post('f-after')).status]).toEqual([500, 500, 200]);
    expect([await effects('f-before'), await effects('f-after')].map((e) => e.length)).toEqual([0, 1]);
  });

  it('D36: a dropped connection before and after the effect', async () => {
    await booking.setFaults({ dropNext: { when: 'before' } });
    await expect(post('d-before')).rejects.toThrow();
    await booking.setFaults({ dropNext: { when: 'after' } });
    await expect(post('d-after')).rejects.toThrow();
    expect([await effects('d-before'), await effects('d-after')].map((e) => e.length)).toEqual([0, 1]);
  });

  it('D36: a held request goes on when released, also when its sender has left (a late landing)', async () => {
    await booking.hold();
    const sender = new AbortController();
    const sent = fetch(`${booking.url}/reservations`, {
      method: 'POST', body: JSON.stringify({ date: '2026-12-27', people: 1 }), headers: { 'Idempotency-Key': 'late' }, signal: sender.signal,
    });
    await vi.waitFor(async () => expect(await booking.held()).toBe(1), WAIT);
    sender.abort();
    await expect(sent).rejects.toThrow();
    expect(await effects('late')).toHaveLength(0);
    await booking.release();
    await vi.waitFor(async () => expect(await effects('late')).toHaveLength(1), WAIT);
  });

  it('D13: look-ups answer wrongly on demand', async () => {
    const { body } = await post('look');
    await booking.setFaults({ lookup: 'many' });
    expect(await get('/reservations?key=look')).toHaveLength(3);
    await booking.setFaults({ lookup: 'no_id' });
    expect(await get('/reservations?key=look')).toMatchObject([{ people: 1 }]);
    expect(await get('/reservations?key=look')).not.toMatchObject([{ id: body['id'] }]);
    await booking.setFaults({ lookup: 'empty' });
    expect(await get('/reservations?key=look')).toEqual([]);
    await booking.setFaults({ lookup: 'garbage' });
    await expect(get('/reservations?key=look')).rejects.toThrow();
  });

  it('I5: an unknown fault is refused and the known ones are named', async () => {
    await expect(booking.setFaults({ failnext: {} } as object)).rejects.toThrow(/failnext.*known.*failNext/s);
  });
});

describe('booking server: processes', () => {
  it('D36: reservations survive SIGKILL; a torn last line is dropped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'booking-'));
    const file = join(folder, 'kept.jsonl');
    const first = await startBooking({ file });
    const { body } = await post('kept', undefined, {}, first);
    await first.stop('SIGKILL');
    await appendFile(file, '{"seq":2,"effect":"res');
    const second = await startBooking({ file });
    expect(await get('/reservations', second)).toEqual([body]);
    expect((await post('kept', undefined, {}, second)).body).toEqual(body);
    await post('new', undefined, {}, second);
    await second.stop();
    const third = await startBooking({ file });
    expect(await third.log()).toHaveLength(2);
    await third.stop();
    await rm(folder, { recursive: true });
  });

  it('D19: without keys every POST has its effect; without look-up the answer is 404', async () => {
    const bare = await startBooking({ mode: 'none' });
    await post('k', undefined, {}, bare);
    await post('k', undefined, {}, bare);
    expect(await effects('k', bare)).toHaveLength(2);
    expect((await fetch(`${bare.url}/reservations?key=k`)).status).toBe(404);
    await bare.stop();
  });
});
