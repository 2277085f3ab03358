import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.js';

/** The parts of a tool's result that count. Kinds of content that are not known yet are let through. */
const toolAnswerSchema = z.object({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
export type ToolAnswer = z.output<typeof toolAnswerSchema>;

const listedToolSchema = z.object({
  name: z.string(),
  inputSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()).optional(), required: z.array(z.string()).optional(), additionalProperties: z.unknown().optional() }),
  annotations: z.object({ readOnlyHint: z.boolean().optional(), destructiveHint: z.boolean().optional(), idempotentHint: z.boolean().optional() }).optional(),
});
export type ListedTool = z.output<typeof listedToolSchema>;
const pageSchema = z.object({ tools: z.array(listedToolSchema), nextCursor: z.string().optional() });

/** A server that always names one more page must not hold us. */
const MAX_PAGES = 50;

/** Tools of a server, over all pages of its list. */
export async function listTools(client: Client, signal: AbortSignal): Promise<Map<string, ListedTool>> {
  const tools = new Map<string, ListedTool>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, pageSchema, { signal });
    for (const tool of answer.tools) tools.set(tool.name, tool);
    if (answer.nextCursor === undefined) break;
    cursor = answer.nextCursor;
  }
  return tools;
}

/**
 * One `tools/call`. Not the SDK's own `callTool`: that throws "invalid params" for a result that does not fit the output schema, which
 * cannot be told from a server that refused the arguments, although the tool has run.
 */
export async function callTool(client: Client, name: string, args: JsonObject, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs?: number }): Promise<ToolAnswer> {
  return client.request({ method: 'tools/call', params: { name, arguments: args } }, toolAnswerSchema, { signal, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) });
}
