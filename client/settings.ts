import type { ConnectionOptions } from '@temporalio/client';

/** What a client needs to reach the two servers. It reads no environment: whoever makes it passes values in. */
export interface ClientSettings {
  temporal: { address: string; namespace: string; apiKey?: string | undefined; tls?: ConnectionOptions['tls'] };
  postgres: { dsn: string; poolMax: number };
  taskQueue: string;
}
