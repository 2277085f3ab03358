import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

/** Logs go to stderr: JSON lines for machines, or one readable line each. */
export function createLog(options: { level: string; readable: boolean }): Logger {
  if (!options.readable) return pino({ level: options.level }, pino.destination({ dest: 2, sync: true }));
  return pino({ level: options.level }, pretty({ destination: 2, sync: true, colorize: process.stderr.isTTY, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }));
}
