import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PASSED_ON = ['PATH', 'HOME', 'LANG'];

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** stdout as objects, one a line. */
  objects(): unknown[];
}

/** Runs the built command line as a process of its own, with no environment but `env` and the bare necessities. */
export function holdfast(args: string[], options: { env?: Record<string, string>; cwd: string; stdin?: string }): Promise<CliResult> {
  const env: Record<string, string> = { ...options.env };
  for (const name of PASSED_ON) env[name] ??= process.env[name] ?? '';
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: options.cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr, objects: () => stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as unknown) }));
    child.stdin.end(options.stdin ?? '');
  });
}
