import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { ConfigError } from './error.js';
import type { Env } from './substitute.js';

/** How to reach Temporal. `apiKey` is a secret. */
export interface TemporalSettings {
  address: string;
  namespace: string;
  apiKey?: string | undefined;
  tls?: ClientConnectConfig['connectionOptions']['tls'];
}

const DEFAULT_ADDRESS = '127.0.0.1:7233';
const DEFAULT_NAMESPACE = 'default';
/** Variables by which a person points at a server; a running `holdfast dev` does not stand above them. */
const CHOICES = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];

/**
 * Temporal's own environment configuration (I7): variables, then the profile file, then defaults. When nobody points at a server,
 * a running `holdfast dev` is used, and no profile file is read.
 */
export function readTemporal(env: Env, dev: { temporalAddress: string; namespace: string } | null): TemporalSettings {
  const given = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''));
  checkTls(given.TEMPORAL_TLS);
  const fallback = dev === null || CHOICES.some((name) => given[name] !== undefined) ? null : dev;
  try {
    const { namespace, connectionOptions: { address, apiKey, tls } } = loadClientConnectConfig({ overrideEnvVars: given, disableFile: fallback !== null });
    return {
      address: checkedAddress(address ?? fallback?.temporalAddress ?? DEFAULT_ADDRESS),
      namespace: namespace ?? fallback?.namespace ?? DEFAULT_NAMESPACE,
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(tls === undefined ? {} : { tls }),
    };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const reason = error instanceof Error ? error.message.split('\n')[0] : '';
    throw new ConfigError([{ where: 'environment', key: 'TEMPORAL_*', message: `Temporal's settings cannot be read: ${reason ?? ''}` }]);
  }
}

/** Temporal's own reader takes an unknown word for "off", and the connection would silently be plain text. */
function checkTls(value: string | undefined): void {
  if (value === undefined || ['0', '1', 'false', 'true'].includes(value)) return;
  throw new ConfigError([{ where: 'environment', key: 'TEMPORAL_TLS', value: JSON.stringify(value.slice(0, 80)), message: 'allowed: "0", "1", "false", "true"' }]);
}

function checkedAddress(address: string): string {
  if (/^[\w.-]{1,253}:\d{1,5}$/.test(address) || /^\[[0-9a-fA-F:]+\]:\d{1,5}$/.test(address)) return address;
  throw new ConfigError([{ where: 'environment', key: 'TEMPORAL_ADDRESS', value: JSON.stringify(address.slice(0, 80)), message: 'must be host:port, without http://' }]);
}
