import { Option, type Command } from 'commander';
import { approvalStateSchema, type ApprovalState } from '../../contracts/approval.js';
import type { JsonObject } from '../../contracts/json.js';
import { EXIT, type CommandContext } from '../context.js';
import { formatApproval, formatApprovals, formatDecision } from '../format-approval.js';
import { argumentsOption, limitOption } from '../options.js';
import type { Register } from '../program.js';

interface DecideOptions {
  hash: string;
  reason?: string;
  args?: JsonObject;
}

export const registerApproval: Register = (program, run) => {
  const approval = program.command('approval').description('Effects that wait for a person');
  approval
    .command('list')
    .description('Lists proposals, oldest first (default: pending)')
    .option('--thread <id>', 'only those of this conversation')
    .addOption(new Option('--state <state>', 'proposals in this state').choices(approvalStateSchema.options))
    .option('--limit <n>', 'at most so many (default 100, no more than 500)', limitOption)
    .addHelpText('after', '\nExample:\n  holdfast approval list --json')
    .action((options: { thread?: string; state?: ApprovalState; limit?: number }, command: Command) =>
      run(command, async (context) => {
        const found = await (await context.client()).approvals({ threadId: options.thread, state: options.state, limit: options.limit });
        context.print(found, formatApprovals(found));
        return EXIT.done;
      }));
  approval
    .command('show')
    .description('Shows the latest version of a proposal: what would change, and until when')
    .argument('<id>')
    .addHelpText('after', '\nExample:\n  holdfast approval show apr-t0123….1.0')
    .action((id: string, _options: object, command: Command) =>
      run(command, async (context) => {
        const found = await (await context.client()).approval(id);
        context.print([found], formatApproval(found));
        return EXIT.done;
      }));
  registerDecisions(approval, run);
};

const registerDecisions: Register = (approval, run) => {
  const hashOption = () => new Option('--hash <hash>', 'hash of the version that was seen').makeOptionMandatory();
  for (const decision of ['approve', 'reject'] as const) {
    approval
      .command(decision)
      .description(decision === 'approve' ? 'Approves exactly the version with this hash' : 'Rejects the proposal; one rejection is final')
      .argument('<id>')
      .addOption(hashOption())
      .option('--reason <text>', 'why')
      .addHelpText('after', `\nExample:\n  holdfast approval ${decision} apr-t0123….1.0 --hash 3f9a… --as kim`)
      .action((id: string, options: DecideOptions, command: Command) => run(command, (context) => decide(context, id, decision, options)));
  }
  approval
    .command('edit')
    .description('Replaces the arguments. An edit approves nothing: the new version has a new hash and waits for its own approval')
    .argument('<id>')
    .addOption(hashOption())
    .addOption(new Option('--args <json>', 'the new arguments').argParser(argumentsOption).makeOptionMandatory())
    .option('--reason <text>', 'why')
    .addHelpText('after', `\nExample:\n  holdfast approval edit apr-t0123….1.0 --hash 3f9a… --args '{"date":"2026-12-24","people":5}'`)
    .action((id: string, options: DecideOptions, command: Command) => run(command, (context) => decide(context, id, 'edit', options)));
};

async function decide(context: CommandContext, id: string, decision: 'approve' | 'reject' | 'edit', options: DecideOptions): Promise<number> {
  const answer = await (await context.client()).decide(id, {
    hash: options.hash, decision, as: context.globals.as,
    ...(options.args === undefined ? {} : { args: options.args }), ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  context.print([answer], formatDecision(answer));
  return answer.result === 'refused' ? EXIT.refused : EXIT.done;
}
