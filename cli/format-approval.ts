import type { ApprovalView, DecisionAnswer, DiffLine } from '../client/index.js';
import type { Json } from '../contracts/json.js';
import { indent, inline, oneLine, printable, table } from './text.js';

/** The difference first: field, before, after. What the table cuts follows whole: nobody should approve what they could not see (D21). */
export function formatDiff(diff: DiffLine[]): string {
  const cut = diff.flatMap(({ field, before, after }) => [...whole(field, 'before', before), ...whole(field, 'after', after)]);
  return [table(['field', 'before', 'after'], diff.map((line) => [oneLine(line.field), cell(line.before), cell(line.after)])), ...cut].join('\n');
}

function cell(value: Json): string {
  return value === null ? '–' : inline(value);
}

/** A value that its cell does not show as it is. */
function whole(field: string, side: 'before' | 'after', value: Json): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return value === null || printable(text) === cell(value) ? [] : ['', `${oneLine(field)}, ${side}, whole:`, indent(printable(text))];
}

/** A proposal as an approver reads it, with the commands that decide it. */
export function formatApproval(approval: ApprovalView): string {
  const lines = [
    `approval ${printable(approval.id)}  ${approval.state}`,
    `  effect ${printable(approval.effect)} · version ${approval.version} · turn ${printable(approval.turnId)} · expires ${approval.expiresAt}`,
    indent(formatDiff(approval.diff)),
    `  arguments: ${printable(JSON.stringify(approval.args))}`,
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
