import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ApprovalView, TurnView } from '../../client/index.js';
import { startBooking } from '../support/booking.js';
import { freshDatabase } from '../support/database.js';
import { freshTaskQueue } from '../support/names.js';
import { holdfast } from './cli-run.js';

const CONFIG = `
[models.default]
provider = "offline"
rules = [
  { after = "reserve", reply = "done" },
  { user = "^book (?<people>\\\\d+)", calls = [{ tool = "reserve", args = { date = "2026-12-24", people = "{people:int}" } }] },
  { reply = "hello" },
]

[agents.booking]
instructions = "Book tables."
effects = ["reserve"]

[effects.reserve]
type = "http"
description = "Reserve a table"
input_schema = { type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }
method = "POST"
url = "\${BOOKING_URL}/reservations"
result_id = "id"
[effects.reserve.idempotency]
header = "Idempotency-Key"
retention = "24h"
[effects.reserve.approval]
required = true
requester_may_approve = true
`;

let cwd: string;
let env: Record<string, string>;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let booking: Awaited<ReturnType<typeof startBooking>>;
let worker: ChildProcess;

/** Starts a worker as a process of its own and waits until it says that it is ready. */
async function startWorker(): Promise<ChildProcess> {
  const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
  const child = spawn(process.execPath, [main, 'worker', '--json'], { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"ready":true')) return child;
  }
  throw new Error('the worker ended before it was ready');
}

beforeAll(async () => {
  [cwd, database, booking] = await Promise.all([mkdtemp(join(tmpdir(), 'holdfast-cli-')), freshDatabase(), startBooking({})]);
  await writeFile(join(cwd, 'holdfast.toml'), CONFIG);
  env = {
    POSTGRES_ORCH_DSN: database.dsn, TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: 'default', HOLDFAST_TASK_QUEUE: freshTaskQueue(),
    HOLDFAST_LOG_LEVEL: 'error', BOOKING_URL: booking.url,
  };
  worker = await startWorker();
});
afterAll(async () => {
  worker?.kill('SIGKILL');
  await booking?.stop();
  await database?.drop();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...args: string[]) => holdfast([...args, '--json'], { cwd, env });
const turnOf = (result: Awaited<ReturnType<typeof holdfast>>) => result.objects()[0] as TurnView;

describe('send', () => {
  test('document 5: a completed turn ends with 0 and is printed as one object', async () => {
    const result = await run('send', 'good morning');
    expect(result).toMatchObject({ code: 0 });
    expect(result.objects()).toMatchObject([{ status: 'completed', text: 'hello', agent: 'booking', steps: 1 }]);
  });

  test('D2: the same request id gets the same turn again, another input under it is a conflict', async () => {
    const first = turnOf(await run('send', 'hello there', '--thread', 'twice', '--request-id', 'r1'));
    expect(turnOf(await run('send', 'hello there', '--thread', 'twice', '--request-id', 'r1')).turnId).toBe(first.turnId);
    const other = await run('send', 'something else', '--thread', 'twice', '--request-id', 'r1');
    expect(other.code).toBe(1);
    expect(other.objects()).toMatchObject([{ error: { code: 'conflict' } }]);
    expect((await run('turn', 'list', '--thread', 'twice')).objects()).toHaveLength(1);
  });

  test('"-" reads the text from stdin, --file sends a reference and never bytes', async () => {
    await writeFile(join(cwd, 'note.txt'), 'secret bytes');
    const result = await holdfast(['send', '-', '--file', join(cwd, 'note.txt'), '--json'], { cwd, env, stdin: 'from a pipe' });
    expect(turnOf(result)).toMatchObject({ status: 'completed' });
    expect(result.stdout).not.toContain('secret bytes');
  });

  test('an unknown agent is refused at once, with the agents that exist', async () => {
    const result = await run('send', '--agent', 'bookin', 'hi');
    expect(result).toMatchObject({ code: 1 });
    expect(result.stderr).toContain('booking');
  });
});

describe('approval', () => {
  test('D22, D23: send waits with 4, a wrong hash is refused, an edit needs its own approval, approve runs it once, a repeat gets the same answer', async () => {
    const sent = await run('send', 'book 4', '--thread', 'approve');
    expect(sent.code).toBe(4);
    const [approval] = (await run('approval', 'list', '--thread', 'approve')).objects() as ApprovalView[];
    expect(approval).toMatchObject({ effect: 'reserve', args: { date: '2026-12-24', people: 4 }, state: 'pending' });
    const { id, hash } = approval as ApprovalView;
    const wrong = await run('approval', 'approve', id, '--hash', 'other');
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.objects()).toMatchObject([{ result: 'refused', code: 'wrong_hash' }]);
    const [edited] = (await run('approval', 'edit', id, '--hash', hash, '--args', '{"date":"2026-12-24","people":5}')).objects() as { result: string; hash: string }[];
    expect(edited).toMatchObject({ result: 'edited', version: 2 });
    const approve = () => run('approval', 'approve', id, '--hash', edited?.hash ?? '', '--as', 'kim');
    expect(await approve()).toMatchObject({ code: 0 });
    expect((await approve()).objects()).toMatchObject([{ result: 'approved', version: 2 }]);
    const again = await run('send', 'book 4', '--thread', 'approve', '--request-id', turnOf(sent).requestId);
    expect(again).toMatchObject({ code: 0 });
    expect(turnOf(again)).toMatchObject({ turnId: turnOf(sent).turnId, status: 'completed', effects: [{ state: 'succeeded', args: { people: 5 } }] });
    expect((await booking.log()).filter((entry) => JSON.stringify(entry).includes(`${turnOf(sent).turnId}.`))).toHaveLength(1);
    expect((await run('approval', 'reject', id, '--hash', edited?.hash ?? '', '--as', 'kim')).objects()).toMatchObject([{ result: 'refused', code: 'already_decided' }]);
  });

  test('D16: an input behind a waiting turn ends with 4 and names the turn in front', async () => {
    const front = turnOf(await run('send', 'book 2', '--thread', 'behind'));
    const back = await run('send', 'good morning', '--thread', 'behind');
    expect(back).toMatchObject({ code: 4 });
    expect(back.stderr).toContain(front.turnId);
    expect((await run('turn', 'cancel', front.turnId, '--reason', 'not needed')).code).toBe(0);
    const after = await run('send', 'good morning', '--thread', 'behind', '--request-id', turnOf(back).requestId);
    expect(turnOf(after)).toMatchObject({ status: 'completed', text: 'hello' });
    expect((await run('turn', 'show', front.turnId)).objects()).toMatchObject([{ status: 'cancelled' }]);
    expect((await run('turn', 'cancel', front.turnId)).objects()).toMatchObject([{ result: 'already_ended', status: 'cancelled' }]);
  });
});

describe('turn migrate', () => {
  test('D34: to the definition that the turn has already: done, nothing changed; of a turn that has ended, or to no digest: refused', async () => {
    const turn = turnOf(await run('send', 'book 3', '--thread', 'migrate'));
    const same = await run('turn', 'migrate', turn.turnId, '--reason', 'why not');
    expect([same.code, same.objects()]).toMatchObject([0, [{ result: 'already', turnId: turn.turnId, to: turn.definition }]]);
    const foreign = await run('turn', 'migrate', turn.turnId, '--to', '0'.repeat(64));
    expect([foreign.code, foreign.objects()]).toMatchObject([1, [{ result: 'refused', code: 'unknown_definition' }]]);
    expect(await run('turn', 'migrate', turn.turnId, '--to', 'latest')).toMatchObject({ code: 2 });
    await run('turn', 'cancel', turn.turnId);
    const ended = await run('turn', 'migrate', turn.turnId);
    expect([ended.code, ended.objects()]).toMatchObject([1, [{ result: 'refused', code: 'turn_finished' }]]);
  });
});

describe('operation', () => {
  test('doctor is content, and config check shows no secret', async () => {
    const doctor = await run('doctor');
    expect(doctor.objects().filter((check) => !(check as { ok: boolean }).ok)).toEqual([]);
    expect(doctor.code).toBe(0);
    expect((await run('config', 'check')).stdout).not.toContain(new URL(database.dsn).password || 'no password is set');
  });

  test('D19: capabilities say what the target can guarantee', async () => {
    expect((await run('capabilities')).objects()).toMatchObject([{ agent: 'booking', effect: 'reserve', capabilities: { lookup: null } }]);
  });

  test('document 5: reconcile with nothing open is done', async () => {
    expect(await run('ledger', 'reconcile')).toMatchObject({ code: 0, stdout: '' });
  });

  test('a worker that is asked to stop ends with 0', async () => {
    const other = await startWorker();
    const ended = once(other, 'exit');
    other.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
