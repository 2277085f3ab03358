import type { TurnView } from '../client/index.js';
import { decideCommands, formatDiff } from './format-approval.js';
import { indent, inline, oneLine, printable, shellWord, table } from './text.js';

/** A turn for people: how it stands, its answer, what happened outside, and what to do next. */
export function formatTurn(turn: TurnView): string {
  const lines = [
    `turn ${printable(turn.turnId)}  ${turn.status}${turn.reason === null ? '' : ` (${oneLine(turn.reason, 300)})`}`,
    `  agent ${turn.agent} · thread ${oneLine(turn.threadId, 120)} · request ${oneLine(turn.requestId, 120)}`,
  ];
  if (turn.text !== null) lines.push('', printable(turn.text));
  if (turn.effects.length > 0) {
    lines.push('', table(['effect', 'state', 'external id', 'arguments'], turn.effects.map((e) => [
      e.effect, e.outcome === null ? e.state : `${e.state} (${e.outcome})`, inline(e.externalId ?? '–', 40), inline(e.args),
    ])));
  }
  for (const { kind, turnId, status } of turn.detached) lines.push('', `  ${kind === 'work' ? 'goes on by itself' : 'undoes an effect'}: turn ${turnId} (${status})`);
  if (turn.owner !== null) lines.push('', `  begun by turn ${turn.owner}`);
  const { usage } = turn;
  lines.push('', `  model calls ${usage.modelCalls} · tokens ${usage.inputTokens} in, ${usage.outputTokens} out · effects sent ${usage.effects}${usage.costUsd === null ? '' : ` · ${usage.costUsd.toFixed(4)} US dollars`}`);
  const next = nextSteps(turn);
  if (next.length > 0) lines.push('', ...next);
  return lines.join('\n');
}

/** What the person in front of the screen can do now; empty when there is nothing. */
export function nextSteps(turn: TurnView): string[] {
  const id = shellWord(turn.turnId);
  switch (turn.status) {
    case 'waiting_approval':
      return turn.approvals
        .filter((a) => a.state === 'pending')
        .flatMap((a) => [`approval of ${printable(a.effect)}, until ${a.expiresAt}`, indent(formatDiff(a.diff)), ...decideCommands(a)]);
    case 'waiting_input':
      return ['next: answer with', `  holdfast turn input ${id} "…"`];
    case 'waiting_unknown':
      return ['next: see what is unknown, then settle it', `  holdfast ledger list --turn ${id} --state unknown`];
    case 'needs_migration':
      return ['next: start a worker of the release that wrote its definition, or move it to the current one', `  holdfast turn migrate ${id}`];
    case 'queued':
    case 'working':
    case 'cancelling':
      return ['next:', `  holdfast turn show ${id}`];
    default:
      return [];
  }
}

export function formatTurns(turns: TurnView[]): string {
  if (turns.length === 0) return 'no turns';
  return table(['turn', 'agent', 'thread', 'status', 'answer'], turns.map((t) => [t.turnId, t.agent, oneLine(t.threadId, 40), t.status, oneLine(t.text ?? t.reason ?? '', 60)]));
}
