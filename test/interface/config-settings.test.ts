import { describe, expect, it } from 'vitest';
import { describeConfig } from '../../config/check.js';
import { readSettings, requireLoopback } from '../../config/settings.js';
import { load, messageOf, RIGHT } from './config-support.js';

/** Keeps a profile file of the person who runs the tests out of them. */
const NO_FILE = { TEMPORAL_CONFIG_FILE: '/nonexistent/temporal.toml' };
const DEV = { temporalAddress: '127.0.0.1:17233', namespace: 'dev', dsn: 'postgres://u:p@127.0.0.1:15432/d', taskQueue: 'devq', apiUrl: 'http://127.0.0.1:18088' };

describe('I5: settings', () => {
  it('I5: defaults hold when nothing is set', () => {
    expect(readSettings(NO_FILE, null)).toEqual({
      temporal: { address: '127.0.0.1:7233', namespace: 'default' }, postgres: { dsn: 'postgres://127.0.0.1:5432/holdfast', poolMax: 5 }, taskQueue: 'holdfast',
      api: { host: '127.0.0.1', port: 8088, url: 'http://127.0.0.1:8088' }, build: null, auth: 'dev', logLevel: 'info',
    });
  });

  it('I5: a running dev stack is used', () => {
    expect(readSettings({}, DEV)).toMatchObject({
      temporal: { address: DEV.temporalAddress, namespace: 'dev' }, postgres: { dsn: DEV.dsn }, taskQueue: 'devq', api: { url: DEV.apiUrl },
    });
  });

  it('I5: the environment stands above a running dev stack', () => {
    const env = {
      ...NO_FILE, TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_NAMESPACE: 'prod', POSTGRES_ORCH_DSN: 'postgres://db/x', HOLDFAST_TASK_QUEUE: 'q', HOLDFAST_BUILD_ID: 'r-2', HOLDFAST_API_PORT: '9', MEMORY_PG_POOL_MAX: '12',
      HOLDFAST_LOG_LEVEL: 'debug',
    };
    expect(readSettings(env, DEV)).toEqual({
      temporal: { address: 'temporal:7233', namespace: 'prod' }, postgres: { dsn: 'postgres://db/x', poolMax: 12 }, taskQueue: 'q',
      api: { host: '127.0.0.1', port: 9, url: 'http://127.0.0.1:9' }, build: { deployment: 'holdfast', id: 'r-2' }, auth: 'dev', logLevel: 'debug',
    });
  });

  it('I7: Temporal\'s own variables are followed, TLS included', () => {
    const { temporal } = readSettings({ ...NO_FILE, TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'true', TEMPORAL_TLS_SERVER_NAME: 's' }, null);
    expect(temporal).toMatchObject({ apiKey: 'k', tls: { serverNameOverride: 's' } });
  });

  it('W15: POSTGRES_MEMORY_DSN is used when it stands alone', () => {
    expect(readSettings({ ...NO_FILE, POSTGRES_MEMORY_DSN: 'postgres://m/x' }, null).postgres.dsn).toBe('postgres://m/x');
  });

  it('W15: two DSNs of one database are accepted, of two databases refused, without their passwords', () => {
    const both = (memory: string) => ({ ...NO_FILE, POSTGRES_ORCH_DSN: 'postgres://a:secretone@localhost/x', POSTGRES_MEMORY_DSN: memory });
    expect(readSettings(both('postgresql://b:secrettwo@127.0.0.1:5432/x'), null).postgres.dsn).toContain('secretone');
    const message = messageOf(() => readSettings(both('postgres://b:secrettwo@localhost/y'), null));
    expect(message).toBe('environment: POSTGRES_MEMORY_DSN: names the database 127.0.0.1:5432/y, but POSTGRES_ORCH_DSN names 127.0.0.1:5432/x; both must be the same, or set only one');
  });

  it.each([
    [{ POSTGRES_ORCH_DSN: 'mysql://u:secretone@h/x' }, 'environment: POSTGRES_ORCH_DSN: must be an address such as postgres://user:password@host:5432/database'],
    [{ HOLDFAST_API_PORT: '80x' }, 'environment: HOLDFAST_API_PORT = "80x": must be a number'],
    [{ HOLDFAST_API_PORT: '70000' }, 'environment: HOLDFAST_API_PORT = "70000": must be at most 65535'],
    [{ MEMORY_PG_POOL_MAX: '1.5' }, 'environment: MEMORY_PG_POOL_MAX = "1.5": must be a whole number'],
    [{ HOLDFAST_LOG_LEVEL: 'loud' }, 'environment: HOLDFAST_LOG_LEVEL = "loud": allowed: "trace", "debug", "info", "warn", "error", "fatal", "silent"'],
    [{ HOLDFAST_AUTH: 'tokens' }, 'environment: HOLDFAST_AUTH = "tokens": allowed: "dev"'],
    [{ TEMPORAL_ADDRESS: 'http://x:1' }, 'environment: TEMPORAL_ADDRESS = "http://x:1": must be host:port, without http://'],
    [{ TEMPORAL_TLS: 'yes' }, 'environment: TEMPORAL_TLS = "yes": allowed: "0", "1", "false", "true"'],
    [{ TEMPORAL_PROFILE: 'nobody' }, "environment: TEMPORAL_*: Temporal's settings cannot be read: Profile 'nobody' not found in config data"],
  ])('I5: the wrong value %j names its variable', (env, message) => {
    expect(messageOf(() => readSettings({ ...NO_FILE, ...env }, null))).toBe(message);
  });

  it('I9: dev auth listens on loopback only', () => {
    const at = (host: string) => () => requireLoopback(readSettings({ ...NO_FILE, HOLDFAST_API_HOST: host }, null));
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.8.9.1']) expect(at(host)).not.toThrow();
    for (const host of ['0.0.0.0', '192.168.1.1', '::', 'localhost.evil.example']) expect(at(host)).toThrow('listens on loopback only');
  });
});

describe('I5: the effective configuration', () => {
  it('I5: secrets are masked and said to be set or missing', () => {
    const toml = RIGHT.replace('"offline"', '"openai"\nmodel = "m"').replace('type = "http"', 'type = "http"\nheaders_env = { X-Auth = "SHOP_AUTH" }');
    const env = { ...NO_FILE, POSTGRES_ORCH_DSN: 'postgres://me:secretone@db/x?password=secretone', TEMPORAL_API_KEY: 'secrettwo', OPENAI_API_KEY: 'secretthree' };
    const shown = describeConfig(load(toml), readSettings(env, null), env);
    expect(JSON.stringify(shown)).not.toMatch(/secret(one|two|three)/);
    expect(shown).toMatchObject({
      secrets: { OPENAI_API_KEY: 'set', SHOP_AUTH: 'missing' },
      settings: { postgres: { dsn: 'postgres://me:***@db/x', pool_max: 5 }, temporal: { api_key: 'set', tls: true } },
      agents: { main: { max_steps: 20, memory: { window_size: 20 } } },
    });
  });
});
