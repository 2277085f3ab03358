/** `holdfast/testing`: what applications use to test their agents without a model provider (I14). */
export { startScriptedModel, type RecordedRequest, type ScriptedModel, type ScriptedModelOptions } from './scripted-model.js';
export type { ChatRequest, Script, ScriptList, ScriptedReply, ScriptedRule } from './script.js';
export { effectChecks, type EffectCheck, type EffectHarness, type Offers } from './effect-checks.js';
export { functionTarget, type DeclaredFunction } from './function-target.js';
