import type { ApprovalView, Decision, DecisionAnswer } from '../contracts/approval.js';
import type { MigrateAnswer, Migration } from '../contracts/migration.js';
import type { LedgerEntryView, Settlement } from '../contracts/ledger.js';
import type { CancelAnswer, SettleAnswer } from '../contracts/steps.js';
import type { TurnView } from '../contracts/turn.js';
import { approvalView, listApprovals, type ApprovalFilter } from '../store/views/approvals.js';
import { capabilityRows, type CapabilityRow } from '../store/views/capabilities.js';
import { ledgerEntryView, listLedger, type LedgerFilter } from '../store/views/ledger.js';
import { turnRoute } from '../store/views/routes.js';
import { listTurns, turnView, type TurnFilter } from '../store/views/turns.js';
import { checkTemporal } from './call-temporal.js';
import { cancel } from './cancel.js';
import { compensate, type CompensationAnswer } from './compensate.js';
import { openContext } from './connect.js';
import type { ClientContext } from './context.js';
import { decide } from './decide.js';
import { notFound } from './errors.js';
import { migrate } from './migrate.js';
import { translateStoreError } from './postgres-errors.js';
import { reconcile, settle } from './settle.js';
import type { ClientSettings } from './settings.js';
import { submit, submitBeside, type SubmitOptions, type Submitted } from './submit.js';
import { waitForTurn, type Waited, type WaitOptions } from './wait.js';

/**
 * Everything that a backend does with Holdfast (I14). Make one per process and close it at the end. Every method throws
 * `HoldfastError` with a stable `code`; refusals of decisions, settlements and cancellations are answers instead.
 */
export class HoldfastClient {
  private constructor(
    private readonly context: ClientContext,
    private readonly dsn: string,
    private readonly end: () => Promise<void>,
  ) {}

  /** Checks that PostgreSQL answers; Temporal is contacted by the first call that needs it. */
  static async connect(options: { settings: ClientSettings }): Promise<HoldfastClient> {
    const { context, close } = openContext(options.settings);
    const client = new HoldfastClient(context, options.settings.postgres.dsn, close);
    try {
      await client.guard(() => context.pool.query('select 1'));
    } catch (error) {
      await close();
      throw error;
    }
    return client;
  }

  async close(): Promise<void> {
    await this.end();
  }

  /** Both servers answer, with our schema and our namespace; for readiness probes. */
  async check(): Promise<void> {
    await this.guard(() => this.context.pool.query('select 1 from holdfast.turn limit 1'));
    await checkTemporal(this.context);
  }

  submit(options: SubmitOptions): Promise<Submitted> {
    return this.guard(() => submit(this.context, options));
  }

  turn(turnId: string): Promise<TurnView> {
    return this.guard(async () => (await turnView(this.context.pool, turnId)) ?? missing('turn', turnId, 'turn list'));
  }

  turns(filter: TurnFilter = {}): Promise<TurnView[]> {
    return this.guard(() => listTurns(this.context.pool, filter));
  }

  waitForTurn(turnId: string, options: WaitOptions): Promise<Waited> {
    return this.guard(() => waitForTurn(this.context, turnId, options));
  }

  cancel(turnId: string, options: { reason?: string | undefined; as: string }): Promise<CancelAnswer> {
    return this.guard(() => cancel(this.context, turnId, options));
  }

  /** Moves an unfinished turn to another definition of its agent, by default the current one (D34). */
  migrate(turnId: string, options: Migration & { as: string }): Promise<MigrateAnswer> {
    return this.guard(() => migrate(this.context, turnId, options));
  }

  /** New input for the conversation of a turn; it answers a turn that waits for input (D4). */
  input(turnId: string, text: string, options: Omit<SubmitOptions, 'agent' | 'threadId' | 'text'>): Promise<Submitted> {
    return this.guard(async () => {
      const route = (await turnRoute(this.context.pool, turnId)) ?? missing('turn', turnId, 'turn list');
      return submitBeside(this.context, route, { ...options, text });
    });
  }

  approvals(filter: ApprovalFilter = {}): Promise<ApprovalView[]> {
    return this.guard(() => listApprovals(this.context.pool, filter));
  }

  /** The latest version of a proposal. */
  approval(id: string): Promise<ApprovalView> {
    return this.guard(async () => (await approvalView(this.context.pool, id)) ?? missing('approval', id, 'approval list'));
  }

  decide(approvalId: string, decision: Decision & { as: string }): Promise<DecisionAnswer> {
    return this.guard(() => decide(this.context, approvalId, decision));
  }

  ledger(filter: LedgerFilter = {}): Promise<LedgerEntryView[]> {
    return this.guard(() => listLedger(this.context.pool, filter));
  }

  ledgerEntry(key: string): Promise<LedgerEntryView> {
    return this.guard(async () => (await ledgerEntryView(this.context.pool, key)) ?? missing('ledger entry', key, 'ledger list'));
  }

  settle(key: string, settlement: Settlement & { as: string }): Promise<SettleAnswer> {
    return this.guard(() => settle(this.context, key, settlement));
  }

  /** Undoes an effect that was done, by the effect that its agent declares for that (D29). */
  compensate(key: string, options: { as: string; reason: string }): Promise<CompensationAnswer> {
    return this.guard(() => compensate(this.context, key, options));
  }

  /** Looks up one unsettled effect, or all, now; answers with the entries as they stand afterwards (D15). */
  reconcile(key?: string): Promise<LedgerEntryView[]> {
    return this.guard(() => reconcile(this.context, key));
  }

  /** Effects of the current definitions, for the capability table (D19). */
  capabilities(): Promise<CapabilityRow[]> {
    return this.guard(() => capabilityRows(this.context.pool));
  }

  private async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw translateStoreError(error, this.dsn);
    }
  }
}

function missing(what: string, id: string, list: string): never {
  throw notFound(what, id, list);
}
