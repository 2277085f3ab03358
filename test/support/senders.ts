import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Submitted } from '../../client/index.js';

const SENDER = fileURLToPath(new URL('./sender.mjs', import.meta.url));

/** What one sender was told: the accepted input or the code of its error. */
export type Told = Submitted | { error: string };

/** Submits each list of `[requestId, text]` from a process of its own, all processes at the same moment. */
export async function submitFromProcesses(env: NodeJS.ProcessEnv, thread: string, lists: [string, string][][]): Promise<Told[]> {
  const senders = lists.map((requests) => ({ requests, child: spawn(process.execPath, [SENDER], { env, stdio: ['pipe', 'pipe', 'inherit'] }) }));
  try {
    const lines = senders.map(({ child }) => linesOf(child));
    for (const line of lines) await line();
    for (const { requests, child } of senders) child.stdin!.write(`${JSON.stringify({ thread, requests })}\n`);
    const told = await Promise.all(lines.map((line) => line()));
    return told.flatMap((line) => JSON.parse(line) as Told[]);
  } finally {
    for (const { child } of senders) child.kill('SIGKILL');
  }
}

function linesOf(child: ChildProcess): () => Promise<string> {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the sender ended before it answered');
    return value;
  };
}
