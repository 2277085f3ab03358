import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import Table from 'cli-table3';
import { startStack } from '../dev/stack.js';
import type { HoldfastClient } from '../client/index.js';
import { migrate } from '../store/migrate.js';
import { createPool } from '../store/pool.js';
import type { Pool } from '../store/pool.js';
import { baselineTurn, plainTurn, startBaselineWorker } from './baseline.js';
import { startBenchEngine } from './engine.js';
import { interleaved, throughput } from './measure.js';

/** One line of the table. `ratio` is `value / baseline` for costs and for rates; `must` and `ok` are absent where nothing is required yet. */
interface Row {
  figure: string;
  value: number;
  unit: string;
  baseline: number | null;
  ratio: number | null;
  must: string;
  ok: boolean;
}

const ROUNDS = 40;
const WIDTH = 32;
const TOTAL = 160;

async function turn(client: HoldfastClient, agent: string): Promise<string> {
  const { turnId } = await client.submit({ agent, text: 'Book a table for four', as: 'bench' });
  const { turn: done } = await client.waitForTurn(turnId, { timeoutMs: 60_000 });
  if (done.status !== 'completed') throw new Error(`a measured turn ended as ${done.status}: ${done.reason ?? ''}`);
  return done.workflowId;
}

async function measure(client: HoldfastClient, temporal: Client, pool: Pool, baselineQueue: string): Promise<Row[]> {
  const five = async () => void (await turn(client, 'five'));
  const chat = async () => void (await turn(client, 'chat'));
  const a = (n: number) => baselineTurn(temporal, baselineQueue, `one-${n}`);
  for (let i = 0; i < 5; i += 1) await Promise.all([five(), chat(), a(-1 - i)]);
  const [fiveMs, aMs, chatMs, bMs] = (await interleaved([five, a, chat, (n) => plainTurn(pool, `one-${n}`)], ROUNDS)) as [number, number, number, number];
  const aRate = await throughput((n) => baselineTurn(temporal, baselineQueue, `many-${n}`), WIDTH, TOTAL);
  const before = await databaseBytes(pool);
  const rate = await throughput(five, WIDTH, TOTAL);
  const bytes = ((await databaseBytes(pool)) - before) / TOTAL;
  const history = await historyBytes(temporal, await turn(client, 'five'));
  return [
    row('five-step turn, one at a time, median', fiveMs, 'ms', aMs, '≤ 1.0 × A', fiveMs / aMs <= 1),
    row('five-step turn, 32 at once', rate, 'turns/s', aRate, '≥ 1.0 × A', rate / aRate >= 1),
    row('chat turn, one at a time, median', chatMs, 'ms', aMs, '≤ 0.5 × A', chatMs / aMs <= 0.5),
    row('baseline B (plain PostgreSQL), median', bMs, 'ms', aMs, '', true),
    row('PostgreSQL bytes per five-step turn', bytes, 'bytes', null, '≤ 15360', bytes <= 15_360),
    row('Temporal history per five-step turn', history, 'bytes', null, '≤ 10240', history <= 10_240),
  ];
}

function row(figure: string, value: number, unit: string, baseline: number | null, must: string, ok: boolean): Row {
  return { figure, value, unit, baseline, ratio: baseline === null ? null : value / baseline, must, ok };
}

async function databaseBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'holdfast' and c.relkind = 'r'`,
  );
  return Number(rows[0]?.bytes);
}

async function historyBytes(temporal: Client, workflowId: string): Promise<number> {
  const description = await temporal.workflow.getHandle(workflowId).describe();
  return description.historySize ?? Number.NaN;
}

/** Starts throw-away servers, measures, prints one table and writes reports/bench.json. Every load is bounded and stays on loopback. */
async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const stack = await startStack({ stateDir: folder, env: { ...process.env, TEMPORAL_ADDRESS: undefined, POSTGRES_ORCH_DSN: undefined, POSTGRES_MEMORY_DSN: undefined }, log: (line) => console.error(line), memory: 'in_memory' });
  const pool = createPool({ dsn: stack.dsn, max: 5 });
  try {
    await migrate(stack.dsn);
    const connection = await Connection.connect({ address: stack.temporalAddress });
    const configFile = fileURLToPath(new URL('../../bench/bench.toml', import.meta.url));
    const engine = await startBenchEngine({ address: stack.temporalAddress, dsn: stack.dsn, taskQueue: 'bench', configFile });
    const baseline = await startBaselineWorker(stack.temporalAddress, 'baseline', pool);
    const rows = await measure(engine.client, new Client({ connection }), pool, 'baseline').finally(async () => {
      await engine.stop();
      await baseline.stop();
      await connection.close();
    });
    await report(rows);
  } finally {
    await pool.end();
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function report(rows: Row[]): Promise<void> {
  const table = new Table({ head: ['figure', 'value', 'baseline', 'ratio', 'must reach', ''] });
  const number = (value: number | null) => (value === null ? '' : value.toFixed(value < 100 ? 2 : 0));
  for (const r of rows) table.push([r.figure, `${number(r.value)} ${r.unit}`, number(r.baseline), number(r.ratio), r.must, r.ok ? 'ok' : 'NOT REACHED']);
  console.log(table.toString());
  await mkdir('reports', { recursive: true });
  await writeFile('reports/bench.json', `${JSON.stringify({ rows }, null, 2)}\n`);
}

await main();
