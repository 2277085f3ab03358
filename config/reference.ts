import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { configSchema } from '../contracts/config.js';
import { overridesSchema } from './overrides.js';
import type { SchemaNode } from './reference-table.js';
import { row, sections, table } from './reference-table.js';
import { variablesSchema } from './variables.js';

const INTRODUCTION = `# Configuration

This file is generated from the schemas (\`node dist/config/reference.js\`); do not edit it.

\`holdfast.toml\` (or \`--config FILE\`) is TOML. Keys are snake_case; an unknown key is an error. \`holdfast config check\` prints what is in
effect, with secrets masked.

- **Durations** are text: \`"500ms"\`, \`"10s"\`, \`"15m"\`, \`"24h"\`, \`"7d"\`.
- **Names** of agents, models, children and effects are letters, digits, \`_\` and \`-\`, at most 64, starting with a letter. A child and an effect of
  one agent must not share a name, nor may an agent and a \`[children.NAME]\`; \`ask_user\` is taken.
- **Addresses**: in \`url\` and \`base_url\`, \`\${NAME}\` and \`\${NAME:-default}\` are replaced by environment variables; an empty variable counts as
  unset. Addresses are stored with the definition of an agent and are shown, so they hold no user, password or other secret.
- **Secrets** come from the environment only. The file names the variable (\`api_key_env\`, \`headers_env\`); a worker does not start while one is missing.
- **Paths** (\`instructions_file\`, \`input_schema_file\`, \`module\`) are relative to the configuration file.
`;

const ENVIRONMENT = `## Environment variables

Those of the first table stand above the file.

`;

const TEMPORAL = `Temporal is found by Temporal's own environment configuration (\`TEMPORAL_ADDRESS\`, \`TEMPORAL_NAMESPACE\`, \`TEMPORAL_API_KEY\`, \`TEMPORAL_TLS\`,
\`TEMPORAL_TLS_*\`, \`TEMPORAL_PROFILE\`, \`TEMPORAL_CONFIG_FILE\`). Without an address, profile or file in the environment a running \`holdfast dev\` is
used; without that the default profile file, else \`127.0.0.1:7233\` and the namespace \`default\`.
`;

/** Text of `docs/configuration.md`, made from the schemas so that it cannot fall behind them (I5b). */
export function configurationReference(): string {
  return [INTRODUCTION, ...sections(jsonSchemaOf(configSchema), '', '').map((text) => `${text}\n`), ENVIRONMENT + variableTable(overridesSchema), variableTable(variablesSchema), TEMPORAL].join('\n');
}

function variableTable(schema: z.ZodType): string {
  const rows = Object.entries(jsonSchemaOf(schema).properties ?? {}).map(([name, node]) => row(name, node as SchemaNode, false));
  return `${table(rows).join('\n')}\n`;
}

function jsonSchemaOf(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync('docs/configuration.md', configurationReference());
