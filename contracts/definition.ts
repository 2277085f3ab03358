import type { BudgetPolicy } from './budget.js';
import type { EffectDefinition } from './effect.js';
import type { ModelDefinition } from './model.js';

export type ChildInput = 'context' | 'conversation';

/** A child as its parent sees it. `digest` pins the child agent's own definition (D34). */
export interface ChildDefinition {
  name: string;
  kind: 'model' | 'agent';
  description: string;
  input: ChildInput;
  digest: string;
}

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
