import type { CancelAnswer } from '../../../contracts/steps.js';
import { workflowIdOf } from '../../../domain/keys.js';
import { sha256Hex } from '../../../store/hash.js';
import { startBooking } from '../../support/booking.js';
import { startEngine, type Servers, type TestWorker } from '../../support/engine.js';
import type { FakeModel } from '../../support/fake-model/index.js';
import { waitFor } from '../../support/wait.js';
import { agentToml } from '../kinds.js';
import { KINDS, type MatrixKind, type World } from './kinds.js';
import { cancels, probeAt, type Cut, type Point } from './points.js';

export interface StageOptions {
  servers: Servers | undefined;
  model: FakeModel;
  /** Limit of one call to a target. */
  timeout: string;
}

/** One turn with one effect of every kind, in a database and on a task queue of its own. */
export interface Stage extends World {
  point: Point | Cut;
  kinds: MatrixKind[];
  turnId: string;
  workflowId: string;
  worker: TestWorker;
  /** Every worker that was started. */
  pids: number[];
  /** Sends the cancel of a point that has one; undefined elsewhere. */
  cancel(): Promise<CancelAnswer> | undefined;
  nextWorker(): Promise<TestWorker>;
}

const APPROVED = '_approved';

/** The kind of an effect, by its name. */
export function kindOf(stage: Pick<Stage, 'kinds'>, effect: string): MatrixKind {
  const kind = stage.kinds.find(({ name }) => effect === name || effect === name + APPROVED);
  if (kind === undefined) throw new Error(`the effect ${effect} is of no kind`);
  return kind;
}

/** Starts an engine with its worker; the turn begins with `submit`, so that several stages can come to their points at the same time. */
export async function setStage(point: Point | Cut, { servers, model, timeout }: StageOptions): Promise<{ submit(): Promise<Stage>; close(): Promise<void> }> {
  const booking = await startBooking();
  const kinds = KINDS.filter(({ cut }) => !isCut(point) || cut !== null);
  const names = kinds.map(({ name }) => (point === 'waiting_approval' ? name + APPROVED : name));
  const sections = kinds.map((kind, i) => [names[i]!, kind.toml(names[i]!, booking.url, timeout) + (point === 'waiting_approval' ? `\n[effects.${names[i]}.approval]` : '')]);
  const engine = await startEngine(agentToml(model.url, Object.fromEntries(sections) as Record<string, string>), {}, servers);
  for (const kind of kinds) await kind.prepare?.(engine);
  const probe = isCut(point) ? null : probeAt(point, kinds.length);
  const worker = await engine.worker(probe === null ? undefined : { ...probe, signal: 'HOLD' });
  const pids = [worker.pid];
  const close = async () => {
    await engine.close().finally(() => booking.stop());
  };
  const submit = async (): Promise<Stage> => {
    if (isCut(point)) await booking.hold(point === 'call_before_effect' ? 'before' : 'after');
    const { turnId, threadId } = await engine.client.submit({ agent: 'main', text: `use ${names.join(',')}`, as: 'tester' });
    await arrived(point, { booking, engine }, worker, turnId, kinds.length);
    return {
      point, kinds, booking, engine, turnId, worker, pids, workflowId: workflowIdOf('main', threadId, sha256Hex),
      // Whoever is asked may be away just now: a person asks again.
      cancel: () => (cancels(point) ? waitFor(() => engine.client.cancel(turnId, { as: 'op' }), { what: 'the cancel to be answered', timeoutMs: 60_000 }) : undefined),
      nextWorker: async () => {
        const next = await engine.worker();
        pids.push(next.pid);
        return next;
      },
    };
  };
  return { submit, close };
}

function isCut(point: Point | Cut): point is Cut {
  return point.startsWith('call_');
}

async function arrived(point: Point | Cut, { booking, engine }: World, worker: TestWorker, turnId: string, effects: number): Promise<void> {
  if (isCut(point)) await waitFor(async () => (await booking.held()) === effects, { what: 'every call to be at its target' });
  // Stored, and perhaps not yet known to the workflow: a person who looks now can decide now.
  else if (point === 'waiting_approval') await waitFor(async () => (await engine.client.turn(turnId)).approvals.filter(({ state }) => state === 'pending').length === effects, { what: 'every proposal' });
  else await worker.reached;
}
