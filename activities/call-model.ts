import { randomUUID } from 'node:crypto';
import type { AgentDefinition } from '../contracts/definition.js';
import type { ModelReply, ModelRequest, ToolSpec } from '../contracts/model.js';
import type { StoredReply } from '../contracts/reply.js';
import type { ModelStepInput, ModelStepResult } from '../contracts/steps.js';
import { turnGroups, userMessage } from '../domain/assemble.js';
import type { Group } from '../domain/assemble.js';
import { CallError } from '../domain/failure.js';
import { ASK_USER, judgeReply, toolNames } from '../domain/judge-reply.js';
import { callKey, modelKey } from '../domain/keys.js';
import { systemPrompt } from '../domain/prompt.js';
import { transcriptProblems } from '../domain/transcript.js';
import { costOf } from '../domain/price.js';
import { firstStepRead, selectWindow } from '../domain/window.js';
import { digestOf } from '../store/hash.js';
import { notePhysicalCall } from '../store/ledger/finish-call.js';
import { storeReply } from '../store/ledger/store-reply.js';
import { loadCall, loadTurnContext } from '../store/turn/context.js';
import type { TurnContext } from '../store/turn/context.js';
import { cancelSignal } from './beat.js';
import { toStepResult } from './call-refs.js';
import { claimPaid } from './claim-paid.js';
import { usableDefinition } from './deps.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';
import { schemaCheck, schemaOf } from './schema.js';

/** Work summaries that a controller sees at most (W1). */
const WORK_ITEMS = 3;

/** Asks the controller model for the next step. The stored reply is used when there is one: no step is paid for twice (D12). */
export async function callModel(deps: ActivityDeps, input: ModelStepInput): Promise<ModelStepResult> {
  const { turnId, step, windowSize } = input;
  const context = await loadTurnContext(deps.pool, turnId, { priorLimit: windowSize, fromStep: firstStepRead(step, windowSize), workItems: WORK_ITEMS });
  const definition = await deps.definition(context.definitionDigest);
  const physicalCallId = randomUUID();
  const key = modelKey(turnId, step);
  const request = requestOf(context, definition, input);
  const claim = await claimPaid(
    deps, { key, turnId, step, idx: -1, kind: 'model', name: definition.model.alias, physicalCallId, timeoutMs: input.timeoutMs, definitionDigest: context.definitionDigest },
    { model: definition.model, request: request.request, hasBudget: context.hasBudget },
  );
  if (claim.kind === 'over_budget') return { kind: 'over_budget', limit: claim.limit };
  if (claim.kind === 'stored') return stepResult(claim.result as StoredReply | null, turnId, step, await judgedUnder(deps, claim.definitionDigest, definition));

  requireTranscript(request.request);
  logWindow(deps, context, request.counts);
  const reply = await ask(deps, definition, request.request, physicalCallId, input.timeoutMs);
  await deps.probe('after_model', key);
  const judged = judgeReply(turnId, step, reply, definition, schemaCheck(definition));
  const stored = await insist(() => storeReply(deps.pool, {
    key, generation: claim.generation, physicalCallId, reply: judged, entries: entriesOf(judged, turnId, step, definition),
    inputTokens: reply.inputTokens, outputTokens: reply.outputTokens, costMicros: costOf(definition.model, reply),
  }));
  await deps.probe('after_model_stored', key);
  if (stored) return stepResult(judged, turnId, step, definition);
  const winner = await loadCall(deps.pool, key);
  return stepResult((winner?.result ?? null) as StoredReply | null, turnId, step, await judgedUnder(deps, winner?.definitionDigest ?? context.definitionDigest, definition));
}

/** A stored reply means what it meant when it was judged; after a migration away from a definition that cannot be used, what the turn means now (D34). */
async function judgedUnder(deps: ActivityDeps, digest: string, now: AgentDefinition): Promise<AgentDefinition> {
  return (await usableDefinition(deps, digest)) ?? now;
}

function stepResult(reply: StoredReply | null, turnId: string, step: number, definition: AgentDefinition): ModelStepResult {
  if (reply === null) throw new CallError('terminal', `step ${step} was closed without a reply`);
  return toStepResult(reply, turnId, step, definition);
}

async function ask(deps: ActivityDeps, definition: AgentDefinition, request: ModelRequest, physicalCallId: string, timeoutMs: number): Promise<ModelReply> {
  try {
    return await deps.models.generate({ ...definition.model, timeoutMs }, request, cancelSignal());
  } catch (error) {
    await notePhysicalCall(deps.pool, physicalCallId, 'rejected', error instanceof CallError ? error.message : 'the call was ended');
    throw error;
  }
}

type WindowCounts = { thread_msgs: number; window: number; sent_to_llm: number; has_prior: boolean };

function requestOf(context: TurnContext, definition: AgentDefinition, input: ModelStepInput): { request: ModelRequest; counts: WindowCounts } {
  const prior = definition.memory.backend === 'off' ? [] : priorGroups(context);
  const messages = selectWindow(prior, userMessage(context.input), turnGroups(context.records, context.steered), input.windowSize);
  const hasPrior = prior.some((group) => group[0]?.role === 'assistant');
  const counts = { thread_msgs: context.threadMessages, window: input.windowSize, sent_to_llm: messages.length, has_prior: hasPrior };
  const system = systemPrompt({ definition, correction: input.correction, hasPrior, workHistory: context.workHistory, endedWork: context.endedWork });
  return { request: { agent: definition.name, system, messages, tools: toolsOf(definition) }, counts };
}

/** What providers would refuse is not sent. After a crash the step's own reply may be among the records already; then nothing is asked. */
function requireTranscript({ messages }: ModelRequest): void {
  const problems = transcriptProblems(messages);
  if (problems.length > 0) throw new CallError('terminal', `the transcript is not well-formed: ${problems[0]}`);
}

function logWindow(deps: ActivityDeps, context: TurnContext, counts: WindowCounts): void {
  deps.log.info({ turnId: context.turnId, threadId: context.threadId, ...counts }, `multiturn: ${Object.entries(counts).map(([name, value]) => `${name}=${value}`).join(' ')}`);
}

/** Stored messages as groups; a first group that was cut by the read limit starts with a tool message and is dropped by the window. */
function priorGroups(context: TurnContext): Group[] {
  const groups = new Map<number, Group>();
  for (const { grp, body } of context.prior) groups.set(grp, [...(groups.get(grp) ?? []), body]);
  return [...groups.values()];
}

function toolsOf(definition: AgentDefinition): ToolSpec[] {
  return toolNames(definition).map((name) => ({ name, description: describe(definition, name), inputSchema: schemaOf(definition, name) }));
}

function describe(definition: AgentDefinition, name: string): string {
  if (name === ASK_USER) return 'Asks the user a question and waits for the answer.';
  return [...definition.children, ...definition.effects].find((tool) => tool.name === name)?.description ?? name;
}

function entriesOf(reply: StoredReply, turnId: string, step: number, definition: AgentDefinition) {
  if (reply.use !== 'calls') return [];
  return reply.calls.filter((call) => call.problem === null).map((call) => {
    const effect = definition.effects.find((candidate) => candidate.name === call.name);
    const kind = effect !== undefined ? ('effect' as const) : call.name === ASK_USER ? ('input' as const) : ('child' as const);
    return {
      key: callKey(turnId, step, call.index), idx: call.index, kind, name: call.name, args: call.args,
      argsDigest: digestOf(call.args), needsApproval: effect?.approval != null,
    };
  });
}
