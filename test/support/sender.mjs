// A sender in a process of its own. It prints `ready`, waits for a line `{ thread, requests: [[requestId, text], …] }`, submits all of
// them at once to the agent `main`, and prints what each sender was told as one JSON line.
import { createInterface } from 'node:readline';
import { HoldfastClient } from '../../dist/client/index.js';

const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, POSTGRES_ORCH_DSN: dsn, HOLDFAST_TASK_QUEUE: taskQueue } = process.env;
const client = await HoldfastClient.connect({ settings: { temporal: { address, namespace }, postgres: { dsn, poolMax: 5 }, taskQueue } });
await client.check();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const { thread, requests } = JSON.parse(line);
  const told = await Promise.allSettled(requests.map(([requestId, text]) => client.submit({ agent: 'main', threadId: thread, requestId, text, as: 'sender' })));
  console.log(JSON.stringify(told.map((one) => (one.status === 'fulfilled' ? one.value : { error: one.reason.code }))));
  break;
}
await client.close();
