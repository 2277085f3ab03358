import type { HoldfastConfig } from '../contracts/config.js';
import type { Json } from '../contracts/json.js';
import { apiKeyEnvOf, neededSecrets } from './secrets.js';
import type { Settings } from './settings.js';
import type { Env } from './substitute.js';
import { maskDsn } from './variables.js';

/**
 * The effective configuration as `holdfast config check` prints it (I5): every default filled in, times in milliseconds, and of each
 * secret only whether it is set.
 */
export function describeConfig(config: HoldfastConfig, settings: Settings, env: Env): Record<string, Json> {
  const { temporal, postgres } = settings;
  const secrets = Object.fromEntries(neededSecrets(config).map(({ variable }) => [variable, env[variable] ? 'set' : 'missing']));
  const models = Object.entries(config.models).map(([name, model]) => [name, { ...model, api_key_env: apiKeyEnvOf(model), rules: `${model.rules.length} rules` }]);
  return plain({
    file: config.file,
    app: config.app,
    models: Object.fromEntries(models),
    agents: config.agents,
    children: config.children,
    effects: config.effects,
    work_memory: config.work_memory,
    secrets,
    settings: {
      ...settings,
      temporal: {
        address: temporal.address, namespace: temporal.namespace, api_key: temporal.apiKey === undefined ? 'missing' : 'set', tls: temporal.tls !== undefined && temporal.tls !== false,
      },
      postgres: { dsn: maskDsn(postgres.dsn), pool_max: postgres.poolMax },
    },
  });
}

/** Only what JSON can say; absent keys are left out. */
function plain(value: object): Record<string, Json> {
  return JSON.parse(JSON.stringify(value)) as Record<string, Json>;
}
