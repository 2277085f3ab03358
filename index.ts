/** Package entry `holdfast` (I14): what applications define. Safe inside workflow code: it loads no module of Node. */
export {
  absent, conflict, defineEffect, found, inconclusive, NotSent, notSent, Rejected, rejected, succeeded, uncertain,
} from './effects/function/define.js';
export type { DefinedEffect, EffectFunctions, EffectQuestion, EffectRequest, PreviewAnswer } from './effects/function/define.js';
export type { LookupResult, PerformResult } from './effects/types.js';
export type { Json, JsonObject } from './contracts/json.js';
