import { text } from 'node:stream/consumers';

/** What a command may touch of its process. Objects go to stdout, everything that is said about them to stderr. */
export interface Io {
  env: NodeJS.ProcessEnv;
  cwd: string;
  out(line: string): void;
  err(line: string): void;
  stdin(): Promise<string>;
}

export function processIo(): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    stdin: () => text(process.stdin),
  };
}
