/** What a turn and the whole tree of its children may use (D33). Null: no limit. Money in millionths of a US dollar, time in milliseconds. */
export interface BudgetPolicy {
  modelCalls: number | null;
  tokens: number | null;
  costMicros: number | null;
  effects: number | null;
  wallTimeMs: number | null;
}

/** Limits by name, as in the configuration and in the reason of a turn that has hit one. */
export type BudgetLimit = 'model_calls' | 'tokens' | 'cost_usd' | 'effects' | 'wall_time';
