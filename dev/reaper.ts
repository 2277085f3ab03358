import { spawn } from 'node:child_process';

/**
 * Waits for its standard input. A line means that the server was stopped in order; the end of input without one means that
 * this process is gone, however it went, also by SIGKILL.
 */
const SCRIPT = `
read -r _ && exit 0
kill -s "$2" "$1"
for i in $(seq 100); do kill -0 "$1" || break; sleep 0.1; done
kill -0 "$1" && kill -s KILL "$1"
[ -z "$3" ] || rm -rf "$3"
`;

/**
 * Makes the server `pid` end with this process: a small shell in a session of its own holds the other end of a pipe. `scratch` is a
 * folder that it removes then. Returns the function that ends the watch once the server has been stopped in order.
 */
export function reapWithUs(pid: number, signal: 'INT' | 'TERM', scratch: string | null): () => void {
  const reaper = spawn('sh', ['-c', SCRIPT, 'holdfast-reaper', String(pid), signal, scratch ?? ''], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // A reaper that cannot start or has died takes nothing from the server it watches.
  reaper.on('error', () => undefined);
  reaper.stdin.on('error', () => undefined);
  reaper.unref();
  return () => reaper.stdin.end('\n');
}
