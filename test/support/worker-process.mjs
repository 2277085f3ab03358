// A real worker in a process of its own, which interrupts itself at one probe point: INTERRUPT=point:SIGKILL or point:SIGSTOP.
// INTERRUPT=point:HOLD keeps what comes there until SIGUSR2. INTERRUPT=point:signal:N waits until N calls have come to the point, so that all of them are interrupted there at once.
// Every point that is reached is printed as a JSON line, so that a test can wait for it.
import pino from 'pino';
import { loadConfig } from '../../dist/config/load.js';
import { compileAgents } from '../../dist/config/compile.js';
import { readSettings } from '../../dist/config/settings.js';
import { runWorker } from '../../dist/worker/run.js';

const [point, signal, count = '1'] = (process.env.INTERRUPT ?? ':').split(':');
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
let missing = Number(count);
let allCame;
const together = new Promise((resolve) => { allCame = resolve; });
const released = new Promise((resolve) => { process.once('SIGUSR2', resolve); });

const worker = await runWorker({
  settings: readSettings(process.env, null),
  compiled: compileAgents(loadConfig({ file: process.env.CONFIG, cwd: process.cwd(), env: process.env })),
  log: pino({ level: process.env.HOLDFAST_LOG_LEVEL ?? 'error' }, pino.destination(2)),
  secrets: (name) => process.env[name],
  adjust: (deps) => ({
    ...deps,
    probe: async (reached, key) => {
      if (reached !== point || missing === 0) return;
      missing -= 1;
      if (missing > 0) return signal === 'HOLD' ? released : together;
      say({ reached, key });
      allCame();
      if (signal === 'HOLD') return released;
      process.kill(process.pid, signal);
      // A stopped process goes on here when it is continued; a killed one does not.
      await new Promise((resolve) => setImmediate(resolve));
    },
  }),
});
say({ ready: true, pid: process.pid });
process.on('SIGTERM', () => void worker.stop().then(() => process.exit(0)));
await worker.done;
