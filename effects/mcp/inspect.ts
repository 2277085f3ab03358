import type { McpEffect } from '../../contracts/effect.js';
import type { ListedTool } from './calls.js';
import { reasonOf } from './failure.js';
import { SessionProblem } from './session.js';
import type { Sessions } from './sessions.js';

/**
 * What a server says about an effect's tools and what the configuration declares otherwise, one line each. Hints are advisory: a line is
 * for a person, and nothing is decided by it (D19, D20).
 */
export async function inspectMcp(sessions: Sessions, effect: McpEffect, signal: AbortSignal): Promise<string[]> {
  const { server, tool } = effect.mcp;
  try {
    const session = await sessions.get(server, signal);
    const listed = await session.tool(tool, signal);
    const asked = effect.lookup === null ? null : ((await session.tool(effect.lookup.tool, signal)) ?? `the MCP server has no tool "${effect.lookup.tool}", which the look-up asks`);
    return [
      ...(listed === undefined ? [`the MCP server has no tool "${tool}"`] : [...schemaLines(effect, listed), ...hintLines(effect, listed)]),
      ...(typeof asked === 'string' ? [asked] : asked?.annotations?.readOnlyHint === false ? [`the look-up tool "${asked.name}" says that it changes something`] : []),
    ];
  } catch (error) {
    return [error instanceof SessionProblem ? error.message : `the MCP server did not list its tools: ${reasonOf(error)}`];
  }
}

function hintLines({ idempotency }: McpEffect, { annotations: hints, name }: ListedTool): string[] {
  return [
    ...(idempotency !== null && hints?.idempotentHint === false ? [`idempotency is declared, but the tool "${name}" says that it is not idempotent`] : []),
    ...(hints?.readOnlyHint === true ? [`the tool "${name}" says that it changes nothing; an effect is for what changes something`] : []),
  ];
}

/** Calls that could never fit, as far as names tell; the server checks everything else itself. */
function schemaLines(effect: McpEffect, { inputSchema }: ListedTool): string[] {
  const ours = namesIn(effect.inputSchema['properties']);
  const keys = [effect.idempotency?.argument, effect.correlation?.argument].filter((place) => place !== undefined);
  const known = namesIn(inputSchema.properties);
  const missing = (inputSchema.required ?? []).filter((name) => !ours.includes(name) && !keys.includes(name));
  const unknown = known.length === 0 && inputSchema.additionalProperties !== false ? [] : [...ours, ...keys].filter((name) => !known.includes(name));
  return [
    ...missing.map((name) => `the tool requires "${name}", which input_schema does not have`),
    ...unknown.map((name) => `the tool does not know the argument "${name}"`),
  ];
}

function namesIn(properties: unknown): string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}
