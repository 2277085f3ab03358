/**
 * The rules of the strictest large providers for a body of `POST /v1/chat/completions`, written without product code (D6):
 * roles in order, every call answered once and at once, no blank text, sound ids, names, arguments, schemas and Unicode.
 */
type Fields = Record<string, unknown>;
type Say = (problem: string) => void;

/** Why a strict provider refuses this body; empty when it accepts it. */
export function violationsOf(body: unknown): string[] {
  if (!isObject(body)) return ['the body is not an object'];
  const found: string[] = [];
  if (typeof body.model !== 'string' || body.model.trim() === '') found.push('model is missing');
  if (body.stream === true) found.push('streaming is not supported');
  if (hasBrokenText(body)) found.push('the body holds NUL or a lone surrogate');
  checkTools(body.tools, (problem) => found.push(problem));
  if (!Array.isArray(body.messages) || body.messages.length === 0) found.push('messages is not a list with at least one item');
  else checkMessages(body.messages, found);
  return found;
}

function checkMessages(messages: unknown[], found: string[]): void {
  const pending: string[] = [];
  const seen: string[] = [];
  let before = 'start';
  messages.forEach((message, index) => {
    const say: Say = (problem) => found.push(`messages[${index}]: ${problem}`);
    if (!isObject(message)) return say('is not an object');
    const role = String(message.role);
    checkOrder(before, role, say);
    if (role !== 'tool' && pending.length > 0) say(`calls without a result before it: ${pending.splice(0).join(', ')}`);
    if (role === 'tool') checkResult(message, pending, say);
    else checkContent(message, role, say);
    if (role === 'assistant') pending.push(...checkCalls(message.tool_calls, seen, say));
    else if (message.tool_calls !== undefined) say(`a ${role} message cannot have tool_calls`);
    before = role;
  });
  if (pending.length > 0) found.push(`calls without a result at the end: ${pending.join(', ')}`);
  if (before !== 'user' && before !== 'tool') found.push(`the last message is from ${before}, not from user or tool`);
}

/** Which roles may stand directly before a role. */
const BEFORE: Record<string, string[]> = {
  system: ['start'],
  user: ['start', 'system', 'assistant', 'tool'],
  assistant: ['user', 'tool'],
  tool: ['assistant', 'tool'],
};

function checkOrder(before: string, role: string, say: Say): void {
  const allowed = BEFORE[role];
  if (allowed === undefined) say(`unknown role ${JSON.stringify(role)}`);
  else if (!allowed.includes(before)) say(`a ${role} message cannot follow ${before}`);
}

function checkContent(message: Fields, role: string, say: Say): void {
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  const { content } = message;
  if (role === 'assistant' && hasCalls && (content === null || content === undefined)) return;
  const texts = Array.isArray(content) ? content.map((part) => (isObject(part) && part.type === 'text' ? part.text : undefined)) : [content];
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string')) say('content is not text');
  else if (texts.some((text) => String(text).trim() === '')) say('content is blank');
}

function checkResult(message: Fields, pending: string[], say: Say): void {
  const at = pending.indexOf(String(message.tool_call_id));
  if (at < 0) say(`tool_call_id ${JSON.stringify(message.tool_call_id)} has no open call`);
  else pending.splice(at, 1);
  if (typeof message.content !== 'string' || message.content.trim() === '') say('content of a result is empty');
}

/** Ids of the calls, which must now be answered. */
function checkCalls(calls: unknown, seen: string[], say: Say): string[] {
  if (calls === undefined) return [];
  if (!Array.isArray(calls) || calls.length === 0) {
    say('tool_calls is not a list with at least one item');
    return [];
  }
  return calls.map((call: unknown) => {
    const { id, type, function: target } = isObject(call) ? call : {};
    if (type !== 'function') say('a call is not of type function');
    if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{1,40}$/.test(id)) say(`call id ${JSON.stringify(id)} is not allowed`);
    if (seen.includes(String(id))) say(`call id ${JSON.stringify(id)} is used twice`);
    seen.push(String(id));
    checkFunction(isObject(target) ? target : {}, say);
    return String(id);
  });
}

function checkFunction(target: Fields, say: Say): void {
  if (!isToolName(target.name)) say(`tool name ${JSON.stringify(target.name)} is not allowed`);
  const args = typeof target.arguments === 'string' ? parsed(target.arguments) : undefined;
  if (!isObject(args)) say('arguments are not a JSON object');
  else if (hasBrokenText(args)) say('arguments hold NUL or a lone surrogate');
}

function checkTools(tools: unknown, say: Say): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools) || tools.length === 0) return say('tools is not a list with at least one item');
  const names = tools.map((tool: unknown, index) => {
    const target = isObject(tool) && tool.type === 'function' && isObject(tool.function) ? tool.function : {};
    if (!isToolName(target.name)) say(`tools[${index}]: name ${JSON.stringify(target.name)} is not allowed`);
    if (!isObject(target.parameters) || target.parameters.type !== 'object') say(`tools[${index}]: parameters is not a schema of type object`);
    if (target.description !== undefined && typeof target.description !== 'string') say(`tools[${index}]: description is not text`);
    return target.name;
  });
  if (new Set(names).size < names.length) say('two tools have the same name');
}

function isToolName(name: unknown): boolean {
  return typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

function hasBrokenText(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || LONE_SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) => hasBrokenText(key) || hasBrokenText(item));
}
