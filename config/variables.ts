import { z } from 'zod';

const DSN_FORM = 'must be an address such as postgres://user:password@host:5432/database';
const dsnSchema = z.string().refine((text) => /^postgres(ql)?:\/\/[^\s]+$/.test(text) && URL.canParse(text), DSN_FORM).meta({ kind: 'DSN' });
const wholeNumber = (min: number, max: number) => z.coerce.number().pipe(z.int().min(min).max(max)).meta({ kind: 'whole number' });

/** Environment variables of a process (I5, I7, W15). An empty one counts as unset. Defaults are what holds without `holdfast dev`. */
export const variablesSchema = z.object({
  POSTGRES_ORCH_DSN: dsnSchema.optional().describe('PostgreSQL of turns, ledger and approvals (W15). Default: that of a running `holdfast dev`, else `postgres://127.0.0.1:5432/holdfast`'),
  POSTGRES_MEMORY_DSN: dsnSchema.optional().describe('Used when `POSTGRES_ORCH_DSN` is not set; both must name the same database (W15)'),
  MEMORY_PG_POOL_MAX: wholeNumber(1, 1000).prefault('5').describe('Connections of one process to PostgreSQL, and as many to each database that `postgres` effects use'),
  HOLDFAST_TASK_QUEUE: z.string().regex(/^[\w.:-]{1,200}$/, 'must be letters, digits and . : _ -').optional().describe('Temporal task queue. Default: `holdfast`'),
  HOLDFAST_BUILD_ID: z.string().regex(/^[\w:-][\w.:-]{0,99}$/, 'must be letters, digits and . : _ -, not beginning with a dot').optional()
    .describe('Build of this worker, for Temporal\'s worker versioning: it gets work once it is the deployment\'s current or ramping version. Default: none, no versioning (docs/versions.md)'),
  HOLDFAST_DEPLOYMENT: z.string().regex(/^(?!__)[\w:-]{1,100}$/, 'must be letters, digits and : _ -, not beginning with "__"').prefault('holdfast')
    .describe('Temporal worker deployment that the build belongs to; used with `HOLDFAST_BUILD_ID` only'),
  HOLDFAST_API_HOST: z.string().regex(/^[\w.:-]{1,255}$/, 'must be a host name or an IP address').prefault('127.0.0.1').describe('Address that the API listens on; `dev` auth allows loopback only (I9)'),
  HOLDFAST_API_PORT: wholeNumber(0, 65_535).prefault('8088').describe('Port of the API; 0: a free one'),
  HOLDFAST_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).prefault('info').describe('Least severe log line'),
  HOLDFAST_AUTH: z.enum(['dev']).prefault('dev').describe('Who may do what: `dev` believes the name that the caller gives; the only mode of this version (I9)'),
});

export type Variables = z.output<typeof variablesSchema>;

/** A database as both DSNs must name it: host, port and name. */
export function databaseOf(dsn: string): string {
  const url = new URL(dsn);
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname;
  return `${host}:${url.port === '' ? '5432' : url.port}${url.pathname}`;
}

/** A DSN for people: no password, no options. */
export function maskDsn(dsn: string): string {
  if (!URL.canParse(dsn)) return '(not a DSN)';
  const url = new URL(dsn);
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : ':***'}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}`;
}
