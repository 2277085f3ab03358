import type { ModelDefinition, ModelReply, ModelRequest } from '../contracts/model.js';

/**
 * One way to reach models. A provider makes exactly one attempt: retries belong to Temporal, where they are bounded
 * and visible (D35). It throws `CallError` for every failure and never repairs a reply (D7).
 */
export interface ModelProvider {
  generate(model: ModelDefinition, request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}
