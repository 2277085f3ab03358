import type { ChatRequest, ScriptedReply } from '../../testing/index.js';
import { textOf } from './plays.js';

/** A parent `main` with remote agents: `credit`, `aware` (sees the conversation), `brisk` (short limit), `nowhere` (nobody there), `sure` (idempotent), `strayed` (its card names another server), `busy` (says so at first). */
export function remoteToml(modelUrl: string, remoteUrl: string, sureUrl = remoteUrl): string {
  const child = (name: string, more = '', url = remoteUrl): string => `[children.${name}]\ntype = "a2a"\nurl = "${url}"\npoll = "100ms"\nheaders_env = { X-Token = "REMOTE_TOKEN" }\n${more}\n`;
  return [
    `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${modelUrl}"\nmodel = "scripted"\ntimeout = "20s"`,
    '[agents.main]\ninstructions = "You are the controller."\nchildren = ["credit", "aware", "brisk", "nowhere", "sure", "strayed", "busy"]\ncontext_turns = 2',
    child('credit', 'timeout = "60s"'), child('aware', 'input = "conversation"'), child('brisk', 'timeout = "1500ms"'), child('nowhere', 'timeout = "2s"', 'http://127.0.0.1:1'),
    child('strayed', '', `${remoteUrl}/elsewhere`), child('busy', 'timeout = "4s"', `${remoteUrl}/busy`), child('sure', 'idempotent = true\ntimeout = "60s"', sureUrl),
  ].join('\n');
}

/** `NAME REQUEST` of the user becomes a call of that child; then its result is told as it came. */
export function remoteScript({ messages }: ChatRequest, _n?: number): ScriptedReply {
  const last = messages.at(-1)!;
  if (last.role === 'tool') return { text: `told: ${textOf(last.content)}` };
  const [name = '', ...rest] = textOf(last.content).split(' ');
  return { calls: [{ name, args: { text: rest.join(' ') } }] };
}
