import { pino } from 'pino';
import type { ActivityDeps } from '../activities/deps.js';
import { HoldfastClient } from '../client/index.js';
import { compileAgents } from '../config/compile.js';
import { loadConfig } from '../config/load.js';
import { readSettings } from '../config/settings.js';
import type { ModelReply, ModelRequest } from '../contracts/model.js';
import { runWorker } from '../worker/run.js';

/** What the measured engine needs of its surroundings. */
export interface BenchServers {
  address: string;
  dsn: string;
  taskQueue: string;
  configFile: string;
}

/** Starts a real worker whose outside world answers at once, so that only the engine is measured. */
export async function startBenchEngine(servers: BenchServers): Promise<{ client: HoldfastClient; stop(): Promise<void> }> {
  const env = { TEMPORAL_ADDRESS: servers.address, POSTGRES_ORCH_DSN: servers.dsn, HOLDFAST_TASK_QUEUE: servers.taskQueue };
  const settings = readSettings(env, null);
  const compiled = compileAgents(loadConfig({ file: servers.configFile, cwd: process.cwd(), env }));
  const worker = await runWorker({ settings, compiled, log: pino({ level: 'error' }), secrets: () => undefined, adjust: answerAtOnce });
  const client = await HoldfastClient.connect({ settings });
  return {
    client,
    stop: async () => {
      await worker.stop();
      await client.close();
    },
  };
}

function answerAtOnce(deps: ActivityDeps): ActivityDeps {
  let effects = 0;
  return {
    ...deps,
    models: { generate: (_model, request) => Promise.resolve(scripted(request)) },
    adapterOf: (effect) => ({ ...deps.adapterOf(effect), perform: () => Promise.resolve({ kind: 'succeeded', externalId: `R-${(effects += 1)}`, result: { id: 'R' } }) }),
  };
}

/** The controller of a five-step turn asks for a child and an effect in its first reply and answers in its second. */
function scripted(request: ModelRequest): ModelReply {
  const usage = { inputTokens: 100, outputTokens: 20 };
  const first = request.messages.at(-1)?.role === 'user';
  if (request.agent !== 'five' || !first) return { text: 'done', calls: [], finish: 'stop', ...usage };
  const calls = [
    { providerCallId: 'call_1', name: 'check', argsText: '{"text":"is it free?"}' },
    { providerCallId: 'call_2', name: 'reserve', argsText: '{"date":"2026-12-24","people":4}' },
  ];
  return { text: '', calls, finish: 'tool_calls', ...usage };
}
