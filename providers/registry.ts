import { createAiSdkProvider, type ProviderDeps } from './ai-sdk.js';
import { createOfflineProvider } from './offline.js';
import type { ModelProvider } from './types.js';

/** One provider for every model: dispatches on `model.provider`. */
export function createProviders(deps: ProviderDeps): ModelProvider {
  const remote = createAiSdkProvider(deps);
  const offline = createOfflineProvider();
  return {
    generate: (model, request, signal) => (model.provider === 'offline' ? offline : remote).generate(model, request, signal),
  };
}
