import type { BudgetPolicy } from './budget.js';
import type { EffectDefinition } from './effect.js';
import type { JsonObject } from './json.js';
import type { ModelDefinition } from './model.js';

export type ChildInput = 'context' | 'conversation';

/** One line of the bounded conversation that a child with `input = "conversation"` is given (W2). */
export interface ConversationLine {
  role: 'user' | 'assistant';
  text: string;
}

interface ChildCommon {
  name: string;
  description: string;
  input: ChildInput;
}

/** One prompted call, or a turn of its own. `digest` pins the child agent's own definition (D34). */
export interface AgentChild extends ChildCommon {
  kind: 'model' | 'agent';
  digest: string;
  /** It outlives the turn that calls it, for at most so many milliseconds (D30). */
  detached: { maxLifeMs: number } | null;
}

/** A remote agent. `headersEnv` names variables, never secrets; `idempotent`: it starts nothing new for a message id that it has seen (D13). Times in milliseconds. */
export interface A2aChild extends ChildCommon {
  kind: 'a2a';
  url: string;
  headersEnv: Record<string, string>;
  timeoutMs: number;
  pollMs: number;
  idempotent: boolean;
}

/** A function of the application. `module` is relative to the configuration file; `inputSchema` null: one text, like other children. */
export interface FunctionChild extends ChildCommon {
  kind: 'function';
  module: string;
  export: string;
  inputSchema: JsonObject | null;
  timeoutMs: number;
}

/** A child as its parent sees it (D32). */
export type ChildDefinition = AgentChild | A2aChild | FunctionChild;

/** Which child calls are summarised and from what evidence (W6, W7). */
export interface SummaryPolicy {
  agent: string;
  digest: string;
  timing: 'before_finalize' | 'turn_end';
  policy: Record<string, 'none' | 'request' | 'response' | 'both'>;
}

/** Everything that gives a turn its meaning, stored once under its digest and pinned by each turn (D34). */
export interface AgentDefinition {
  name: string;
  instructions: string;
  model: ModelDefinition;
  children: ChildDefinition[];
  effects: EffectDefinition[];
  /** Effects that undo one of `effects` and are not called by the model (D29). */
  compensations: EffectDefinition[];
  /** Model calls of one turn, corrections included. */
  maxSteps: number;
  /** Offer the built-in tool `ask_user`, which waits for new input (D4). */
  askUser: boolean;
  memory: { backend: 'off' | 'postgres'; windowSize: number; historyAware: boolean };
  contextTurns: number;
  contextRoles: ('user' | 'assistant')[];
  summary: SummaryPolicy | null;
  budget: BudgetPolicy | null;
}
