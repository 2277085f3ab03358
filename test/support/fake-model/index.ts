import { startScriptedModel, type ScriptedModel } from '../../../testing/index.js';
import { violationsOf } from './strict.js';

export type FakeModel = ScriptedModel;

/** A scripted model that refuses every transcript a strict provider would refuse (D6). `port`: 0 (default) takes a free one. */
export function startFakeModel(options: { port?: number } = {}): Promise<FakeModel> {
  return startScriptedModel({ ...options, check: violationsOf });
}
