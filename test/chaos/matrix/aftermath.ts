import type { LedgerEntryView, LedgerState } from '../../../contracts/ledger.js';
import { isFinal, type TurnView } from '../../../contracts/turn.js';
import { stateQuery } from '../../../workflows/messages.js';
import { waitFor } from '../../support/wait.js';
import type { Struck } from './faults.js';
import { cancels } from './points.js';
import { claimOf, countsOf, problemsOf, type Row } from './row.js';
import { kindOf, type Stage } from './stage.js';

const PATIENCE_MS = 60_000;

/** What a stage has come to: its cells, and what is wrong with them or with its turn. */
export interface Aftermath {
  rows: Row[];
  problems: string[];
}

/** Follows a turn from its fault to its end, with the people whom it needs: an approver before, an operator for what stays unknown (D16). */
export async function follow(struck: Struck): Promise<Aftermath> {
  const { stage, thaw } = struck;
  const from = stage.point === 'waiting_approval' ? await approveAll(stage) : struck.backAt;
  const settledAt = await settleTimes(stage);
  const meanwhile = thaw === null ? null : await frozenStates(stage);
  await thaw?.();
  const entries = await (thaw === null ? entriesOf(stage) : settledEntries(stage));
  const problems: string[] = [];
  const rows = await Promise.all(entries.map(async (entry): Promise<Row> => {
    const kind = kindOf(stage, entry.effect);
    const at = settledAt.get(entry.key);
    const row = {
      effect: kind.name, point: stage.point, fault: struck.fault, ...countsOf(entry, await kind.seen(stage, entry.key)), state: entry.state,
      meanwhile: meanwhile?.get(entry.key) ?? null, settleMs: at === undefined ? null : Math.max(0, at - from), pickupMs: null,
    };
    problems.push(...problemsOf(row, kind, entry));
    return row;
  }));
  if (rows.length !== stage.kinds.length) problems.push(`${struck.fault}, ${stage.point}: ${rows.length} entries for ${stage.kinds.length} effects`);
  try {
    await settleUnknown(stage, entries);
    problems.push(...(await endProblems(struck, meanwhile)));
    const pickupMs = await pickup(struck);
    for (const row of rows) row.pickupMs = pickupMs;
  } catch (error) {
    for (const row of rows) row.losses += 1;
    problems.push(`${struck.fault}, ${stage.point}: the turn does not end: ${String(error)}`);
  }
  return { rows, problems };
}

/** Answers when the people began to approve; they try again while a server is away. */
async function approveAll({ engine, turnId }: Stage): Promise<number> {
  const { approvals } = await waitFor(() => engine.client.turn(turnId), { what: 'the turn to be read' });
  const from = Date.now();
  for (const { id, hash } of approvals) {
    const answer = await waitFor(() => engine.client.decide(id, { hash, decision: 'approve', as: 'boss' }), { what: 'the approval to be taken', timeoutMs: PATIENCE_MS });
    if (answer.result !== 'approved') throw new Error(`the approval was not taken: ${JSON.stringify(answer)}`);
  }
  return from;
}

function entriesOf({ engine, turnId }: Stage): Promise<LedgerEntryView[]> {
  return waitFor(() => engine.client.ledger({ turnId, kind: 'effect' }), { what: 'the ledger to be read', timeoutMs: PATIENCE_MS });
}

function isOpen({ state }: LedgerEntryView): boolean {
  return state === 'pending' || state === 'dispatched';
}

/**
 * When each entry was first seen to be settled, or to be unknown for good: its step waits for a person, or its turn has ended. Entries that come
 * to no end have no time; their cells say so.
 */
async function settleTimes(stage: Stage): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  await waitFor(async () => {
    const entries = await stage.engine.client.ledger({ turnId: stage.turnId, kind: 'effect' });
    const resting = entries.some(({ state }) => state === 'unknown') ? await restsUnknown(stage) : () => false;
    for (const { key, state } of entries.filter((entry) => !isOpen(entry))) if ((state !== 'unknown' || resting(key)) && !times.has(key)) times.set(key, Date.now());
    return times.size === stage.kinds.length;
  }, { what: 'every effect to be settled or unknown', timeoutMs: PATIENCE_MS }).catch(() => undefined);
  return times;
}

/** Which unknown entries nothing but a person, or news, moves. */
async function restsUnknown({ engine, turnId, workflowId }: Stage): Promise<(key: string) => boolean> {
  if (isFinal((await engine.client.turn(turnId)).status)) return () => true;
  const { unknownEffects } = await engine.temporal.workflow.getHandle(workflowId).query(stateQuery);
  return (key) => unknownEffects.includes(key);
}

/** What stands while a worker is frozen, once the turn has ended or waits for a person. */
async function frozenStates(stage: Stage): Promise<Map<string, LedgerState>> {
  await stage.engine.settled(stage.turnId, PATIENCE_MS);
  return new Map((await entriesOf(stage)).map(({ key, state }) => [key, state]));
}

/** After a thaw nothing stays unknown: the worker has told what it did. */
function settledEntries(stage: Stage): Promise<LedgerEntryView[]> {
  const settled = async () => {
    const entries = await entriesOf(stage);
    return entries.every((entry) => !isOpen(entry) && entry.state !== 'unknown') && entries;
  };
  return waitFor(settled, { what: 'what the frozen worker knows', timeoutMs: PATIENCE_MS }).catch(() => entriesOf(stage));
}

async function settleUnknown(stage: Stage, entries: LedgerEntryView[]): Promise<void> {
  const { engine, turnId } = stage;
  const open = entries.filter(({ state }) => state === 'unknown');
  if (open.length > 0 && !cancels(stage.point)) await engine.until(turnId, 'waiting_unknown');
  for (const { key, version, effect } of open) {
    const happened = (await kindOf(stage, effect).seen(stage, key)).effects > 0;
    const answer = await engine.client.settle(key, { version, outcome: happened ? 'succeeded' : 'failed', ...(happened ? { externalId: 'R-seen' } : {}), reason: 'looked it up', as: 'op' });
    if (answer.result !== 'settled') throw new Error(`${effect} could not be settled: ${JSON.stringify(answer)}`);
  }
}

/** The turn ends once, as it was asked to, having paid for each model call once (D12, D31). */
async function endProblems({ stage, fault, cancelled }: Struck, meanwhile: Map<string, LedgerState> | null): Promise<string[]> {
  const where = `${fault}, ${stage.point}`;
  const turn = await waitFor(async () => {
    const now = await stage.engine.client.turn(stage.turnId);
    return isFinal(now.status) && now;
  }, { what: `the turn of ${where} to end`, timeoutMs: PATIENCE_MS });
  const answer = await cancelled;
  const right = answer?.result === 'cancelling' ? 'cancelled' : 'completed';
  const entries = await entriesOf(stage);
  const early = entries.filter((entry) => isOpen(entry) || (entry.state === 'unknown' && answer === undefined));
  // A cancelled turn does not wait; what is learned or settled after its end cannot be in its words.
  const told = answer === undefined ? entries : entries.filter(({ key, evidence }) => meanwhile?.get(key) !== 'unknown' && !evidence.some(({ by }) => by === 'op'));
  return [
    ...(turn.status === right ? [] : [`${where}: the turn ended as ${turn.status} (${turn.reason ?? ''}), right is ${right}`]),
    ...(answer?.result === 'refused' ? [`${where}: the cancel was refused: ${answer.message}`] : []),
    ...early.map(({ effect, state }) => `${where}: the turn ended while ${effect} was ${state}`),
    ...told.flatMap((entry) => untold(where, turn, entry)),
    ...(turn.status === 'completed' && turn.usage.modelCalls !== 2 ? [`${where}: ${turn.usage.modelCalls} model calls, right is 2`] : []),
  ];
}

/** The answer names what was done, and says of what a person found not to be done that it was not (D28). */
function untold(where: string, { text }: TurnView, entry: LedgerEntryView): string[] {
  const { effect, externalId } = entry;
  const claim = claimOf(entry);
  if (claim === 'done' && externalId !== null && text?.includes(externalId) !== true) return [`${where}: the answer does not tell ${effect}, ${externalId}`];
  return claim === 'not_done' && text?.includes('not done') !== true ? [`${where}: the answer does not tell that ${effect} was not done`] : [];
}

/** From the worker's being there to the first task of the turn that it started, by the history. */
async function pickup({ stage, heir, backAt }: Struck): Promise<number | null> {
  if (heir === null) return null;
  const { events } = await stage.engine.temporal.workflow.getHandle(stage.workflowId).fetchHistory();
  const starts = (events ?? []).flatMap((event) => {
    const started = event.workflowTaskStartedEventAttributes ?? event.activityTaskStartedEventAttributes;
    return started?.identity?.startsWith(`${heir.pid}@`) === true ? [Number(event.eventTime?.seconds) * 1000 + Number(event.eventTime?.nanos) / 1e6] : [];
  });
  return starts.length === 0 ? null : Math.max(0, Math.round(Math.min(...starts) - backAt));
}
