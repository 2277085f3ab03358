// Tasks in a file, over the official store in memory.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Task } from '@a2a-js/sdk';
import { InMemoryTaskStore } from '@a2a-js/sdk/server';

const ENDED = [3, 4, 5, 7];

/** `onSaved` is called when a task was written, before anybody is told. */
export async function storeOf(file, context, onSaved) {
  const tasks = new Map();
  const memory = new InMemoryTaskStore();
  const logFile = `${file}.log`;
  const write = () => writeFileSync(file, JSON.stringify([...tasks.values()].map((task) => Task.toJSON(task))));
  if (existsSync(file)) {
    for (const raw of JSON.parse(readFileSync(file, 'utf8'))) {
      const task = Task.fromJSON(raw);
      tasks.set(task.id, task);
      await memory.save(task, context());
    }
  }
  return {
    load: (id, ctx) => memory.load(id, ctx),
    list: (params, ctx) => memory.list(params, ctx),
    save: async (task, ctx) => {
      await memory.save(task, ctx);
      tasks.set(task.id, structuredClone(task));
      write();
      onSaved();
    },
    toJson: (task) => Task.toJSON(task),
    byMessage: async (id) => [...tasks.values()].find((task) => task.history.some(({ messageId }) => messageId === id)),
    open: () => [...tasks.values()].filter((task) => !ENDED.includes(task.status.state)),
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : []),
    note: (line) => appendFileSync(logFile, `${JSON.stringify(line)}\n`),
  };
}
