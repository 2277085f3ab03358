import { CancellationScope, allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';
import type { BudgetLimit } from '../contracts/budget.js';
import type { CallRef, ConversationRef, ConversationState, OpenedTurn, PendingApproval, ProposalRef, SettleAnswer } from '../contracts/steps.js';
import type { TurnStatus } from '../contracts/turn.js';
import { LOOP_START } from '../domain/turn-loop.js';
import type { LoopState } from '../domain/turn-loop.js';
import { store } from './activities.js';
import { readCarried } from './carried.js';
import type { CarriedState } from './carried.js';

/** One call of the current reply and how far it has come; enough to go on from in a new run (D1). */
export interface CallProgress {
  ref: CallRef;
  phase: 'start' | 'approval' | 'perform' | 'open' | 'done';
  proposal: ProposalRef | null;
  /** Of a redispatch: the generation that was judged. */
  generation: number | null;
  /** Nothing is sent again after this time (D13). */
  beforeMs: number | null;
  unsent: number;
  /** While it waits for a permit: when it no longer does (D27), milliseconds since the epoch. */
  permitUntilMs: number | null;
}

/** A running turn as it is carried to a new run. */
export interface TurnProgress {
  turnId: string;
  maxSteps: number;
  windowSize: number;
  modelTimeoutMs: number;
  summaryTiming: 'before_finalize' | 'turn_end' | null;
  loop: LoopState;
  calls: CallProgress[] | null;
  /** Calls to be summarised at the end of the turn, in call order (W8). */
  toSummarize: string[];
  cancelled: boolean;
  /** When its time is over (D33), milliseconds since the epoch. */
  deadlineMs: number | null;
  /** The limit that was hit: it ends with its running calls. */
  overBudget: BudgetLimit | null;
  /** Its end may begin to undo effects (D29). */
  mayUndo: boolean;
}

export interface Carried {
  queue: string[];
  steered: string[];
  answers: string[];
  running: TurnProgress | null;
  /** `closed`: by a migration (D34). */
  decided: [string, 'approved' | 'rejected' | 'closed'][];
  settled: [string, SettleAnswer | 'changed'][];
}

/** Thrown at a wait point when the run must continue as new; everything it needs is in the session (D1). */
export class Rollover extends Error {}

type Waiting = 'needs_migration' | 'waiting_approval' | 'waiting_input' | 'waiting_unknown';
/** What a turn that waits for several things stands as. Without its definition it cannot go on whatever is decided, so that one is first. */
const PRIORITY: Waiting[] = ['needs_migration', 'waiting_approval', 'waiting_input', 'waiting_unknown'];

/** What one run of a conversation knows. Handlers change it, the turn waits on it; nothing here is content. */
export class Session {
  readonly queue: string[] = [];
  readonly steered: string[] = [];
  readonly answers: string[] = [];
  running: TurnProgress | null = null;
  status: TurnStatus = 'working';
  /** What was decided or settled, by key; taken by the call that waits for it. */
  readonly decided = new Map<string, 'approved' | 'rejected' | 'closed'>();
  readonly settled = new Map<string, SettleAnswer | 'changed'>();
  readonly unknown = new Set<string>();
  /** Grows when the turn was migrated or a worker came that may know its definition (D34). */
  definitions = 0;
  private readonly waits: Record<Waiting, Map<string, string>> = { needs_migration: new Map(), waiting_approval: new Map(), waiting_input: new Map(), waiting_unknown: new Map() };
  /** Turns whose cancel was acknowledged, also before they began. */
  private readonly cancelled = new Set<string>();
  private opening: string | null = null;
  private active = 0;
  private noting: Promise<void> = Promise.resolve();

  /** `oneTurn`: of a child agent, whose run ends with its turn; it takes no input but answers (D32). */
  constructor(readonly ref: ConversationRef, carried: CarriedState | null, readonly kind: { oneTurn: boolean } = { oneTurn: false }) {
    if (carried === null) return;
    const { queue, steered, answers, running, decided, settled } = readCarried(carried);
    this.queue.push(...queue);
    this.steered.push(...steered);
    this.answers.push(...answers);
    this.running = running;
    for (const [key, decision] of decided) this.decided.set(key, decision);
    for (const [key, answer] of settled) this.settled.set(key, answer);
  }

  /** Takes the next waiting turn; null when none waits. */
  take(): string | null {
    return this.queue.shift() ?? null;
  }

  /** Notes which turn is being opened; null when that is over without a turn that runs. */
  opens(turnId: string | null): void {
    this.opening = turnId;
  }

  begin(opened: OpenedTurn): TurnProgress {
    const { turnId, maxSteps, windowSize, modelTimeoutMs, summaryTiming, deadlineMs = null, mayUndo = false } = opened;
    this.status = 'working';
    this.opening = null;
    this.running = {
      turnId, maxSteps, windowSize, modelTimeoutMs, summaryTiming, deadlineMs, mayUndo,
      loop: LOOP_START, calls: null, toSummarize: [], cancelled: this.cancelled.has(turnId), overBudget: null,
    };
    return this.running;
  }

  /** After a turn's end: inputs meant for it that came too late become turns of their own, first in line (D4). */
  finish(): void {
    this.running = null;
    this.queue.unshift(...this.answers.splice(0), ...this.steered.splice(0));
    this.decided.clear();
    this.settled.clear();
  }

  /** Marks a turn as cancelled; true when it is the running one, whose work must then be interrupted (D27). */
  cancel(turnId: string): boolean {
    this.cancelled.add(turnId);
    if (this.running?.turnId !== turnId) return false;
    this.running.cancelled = true;
    return true;
  }

  /** Whether the turn that runs or is being opened was cancelled. */
  isCancelled(): boolean {
    return this.running?.cancelled ?? (this.opening !== null && this.cancelled.has(this.opening));
  }

  /** The turn that runs or is just being opened. */
  current(): string | null {
    return this.running?.turnId ?? this.opening;
  }

  /** Takes an input out of every list in which it may wait. */
  drop(turnId: string): void {
    for (const list of this.waitingLists()) {
      const place = list.indexOf(turnId);
      if (place !== -1) list.splice(place, 1);
    }
  }

  /** Takes out everything that waits. */
  dropAll(): string[] {
    return this.waitingLists().flatMap((list) => list.splice(0));
  }

  private waitingLists(): string[][] {
    return [this.queue, this.steered, this.answers];
  }

  /** Whether an input was already taken by this run. */
  knows(turnId: string): boolean {
    return this.running?.turnId === turnId || this.opening === turnId || this.waitingLists().some((list) => list.includes(turnId));
  }

  /** Whether a question of the running turn still lacks its answer. Read from the turn, so that a new run knows it at once (D4). */
  waitsForInput(): boolean {
    if (this.running === null || this.running.cancelled) return false;
    const asked = (this.running.calls ?? []).filter(({ ref, phase }) => ref.kind === 'input' && phase === 'open');
    return asked.length > this.answers.length;
  }

  /** Runs an activity or a short wait to its end, also under a cancel; while one runs, the run does not continue as new. */
  async activity<T>(work: () => Promise<T>): Promise<T> {
    this.active += 1;
    try {
      return await CancellationScope.nonCancellable(work);
    } finally {
      this.active -= 1;
    }
  }

  /**
   * Waits for a person until `ready`, a cancel of the turn, or `timeoutMs`. Answers false when the time ran out. A run that
   * has become long continues as new from here.
   */
  async waitFor(what: Waiting, key: string, reason: string, ready: () => boolean, timeoutMs: number | null): Promise<boolean> {
    const over = () => ready() || this.isCancelled();
    this.waits[what].set(key, reason);
    this.noteStatus();
    try {
      const until = () => over() || this.mustRollOver();
      const inTime = timeoutMs === null ? await condition(until).then(() => true) : await condition(until, Math.max(timeoutMs, 1));
      if (inTime && !over()) throw new Rollover();
      return inTime;
    } finally {
      this.waits[what].delete(key);
      if (over()) this.noteStatus();
    }
  }

  mustRollOver(): boolean {
    return workflowInfo().continueAsNewSuggested && this.active === 0 && allHandlersFinished();
  }

  carry(): Carried {
    // A turn that is still being opened is opened again by the next run.
    const queue = [...(this.opening === null ? [] : [this.opening]), ...this.queue];
    return { queue, steered: [...this.steered], answers: [...this.answers], running: this.running, decided: [...this.decided], settled: [...this.settled] };
  }

  /** Until every noted status is stored, so that none can come after the turn's end. */
  async noted(): Promise<void> {
    await this.noting;
  }

  /** Stores what the turn is doing or waiting for, when that has changed. */
  noteStatus(): void {
    const turnId = this.current();
    const status = PRIORITY.find((candidate) => this.waits[candidate].size > 0) ?? 'working';
    if (turnId === null || status === this.status) return;
    this.status = status;
    const reason = status === 'working' ? null : ([...this.waits[status].values()][0] ?? null);
    this.noting = this.noting.then(() => this.activity(() => store.note({ turnId, status, reason })));
  }

  state(): ConversationState {
    const running = this.running === null ? null : { turnId: this.running.turnId, status: this.running.cancelled ? ('cancelling' as const) : this.status, step: this.running.loop.step };
    return { ...this.ref, running, queued: [...this.queue], unknownEffects: [...this.unknown] };
  }

  pendingApprovals(): PendingApproval[] {
    return this.pendingCalls().map(({ call, proposal }) => ({ ...proposal, turnId: this.running?.turnId ?? '', key: call.ref.key, effect: call.ref.name }));
  }

  pendingCalls(): { call: CallProgress; proposal: ProposalRef }[] {
    return (this.running?.calls ?? []).flatMap((call) => (call.phase === 'approval' && call.proposal !== null ? [{ call, proposal: call.proposal }] : []));
  }
}
