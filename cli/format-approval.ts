import type { ApprovalView, DecisionAnswer, DiffLine } from '../client/index.js';
import { indent, inline, printable, table } from './text.js';

/** The difference first: field, before, after. */
export function formatDiff(diff: DiffLine[]): string {
  return table(['field', 'before', 'after'], diff.map((line) => [line.field, line.before === null ? '–' : inline(line.before), line.after === null ? '–' : inline(line.after)]));
}

/** A proposal as an approver reads it, with the commands that decide it. */
export function formatApproval(approval: ApprovalView): string {
  const lines = [
    `approval ${printable(approval.id)}  ${approval.state}`,
    `  effect ${printable(approval.effect)} · version ${approval.version} · turn ${printable(approval.turnId)} · expires ${approval.expiresAt}`,
    indent(formatDiff(approval.diff)),
    ...approval.decisions.map((d) => `  ${d.decision} by ${printable(d.by)} at ${d.at}${d.reason === null ? '' : `: ${printable(d.reason)}`}`),
  ];
  if (approval.state === 'pending') lines.push('', ...decideCommands(approval));
  return lines.join('\n');
}

/** The exact commands that decide about this version. */
export function decideCommands(approval: Pick<ApprovalView, 'id' | 'hash'>): string[] {
  return [
    'next:',
    `  holdfast approval approve ${approval.id} --hash ${approval.hash}`,
    `  holdfast approval reject ${approval.id} --hash ${approval.hash} --reason "…"`,
  ];
}

export function formatApprovals(approvals: ApprovalView[]): string {
  if (approvals.length === 0) return 'no approvals';
  return table(
    ['id', 'effect', 'after', 'expires', 'hash'],
    approvals.map((a) => [a.id, a.effect, inline(Object.fromEntries(a.diff.map((line) => [line.field, line.after])), 60), a.expiresAt, a.hash]),
  );
}

export function formatDecision(answer: DecisionAnswer): string {
  switch (answer.result) {
    case 'refused':
      return `refused (${answer.code}): ${printable(answer.message)}`;
    case 'edited':
      return [`edited: version ${answer.version} waits for its own approval`, '', ...decideCommands({ id: answer.approvalId, hash: answer.hash })].join('\n');
    case 'recorded':
      return 'recorded: other approvers are still needed';
    default:
      return answer.result;
  }
}
