import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { Pool } from '../store/pool.js';
import { fiveActivities } from './baseline-workflow.js';

/** The five steps of baseline A; the last one commits the answer, which is all that they store. */
export function baselineActivities(pool: Pool) {
  const answerAtOnce = (turnId: string) => Promise.resolve(`${turnId} done`);
  return {
    model: answerAtOnce,
    child: answerAtOnce,
    effect: answerAtOnce,
    summary: answerAtOnce,
    finish: async (turnId: string) => {
      await pool.query('insert into bench_answer (turn_id, body) values ($1, $2)', [turnId, 'done']);
      return 'done';
    },
  };
}

export type BaselineActivities = ReturnType<typeof baselineActivities>;

export async function startBaselineWorker(address: string, taskQueue: string, pool: Pool): Promise<{ stop(): Promise<void> }> {
  await pool.query('create table if not exists bench_answer (turn_id text primary key, body text not null)');
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection, taskQueue, activities: baselineActivities(pool),
    workflowsPath: fileURLToPath(new URL('./baseline-workflow.js', import.meta.url)),
  });
  const done = worker.run();
  return {
    stop: async () => {
      worker.shutdown();
      await done;
      await connection.close();
    },
  };
}

/** Runs one turn of baseline A and waits for its answer. */
export async function baselineTurn(client: Client, taskQueue: string, id: string): Promise<void> {
  await client.workflow.execute(fiveActivities, { taskQueue, workflowId: `baseline/${id}`, args: [id] });
}

/** Baseline B: plain Node and PostgreSQL, five commits, no engine. */
export async function plainTurn(pool: Pool, id: string): Promise<void> {
  for (let step = 1; step <= 5; step += 1) await pool.query('insert into bench_answer (turn_id, body) values ($1, $2)', [`plain/${id}/${step}`, 'done']);
}
