import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import type { Interrupt, TestWorker } from '../support/engine.js';
import { effectOf, startUndoRig, type UndoRig } from '../support/undo-rig.js';
import { waitFor } from '../support/wait.js';

let rig: UndoRig;
let worker: TestWorker | null = null;

beforeAll(async () => {
  rig = await startUndoRig();
});
beforeEach(() => worker?.stop());
afterAll(() => rig?.close());

/** A turn whose policy undoes `auto`, brought to the moment between its end and the start of the undoing. */
async function atTheEnd(signal: Interrupt['signal']): Promise<TurnView> {
  worker = await rig.engine.worker({ at: 'after_end', signal });
  const { turnId } = await rig.engine.client.submit({ agent: 'main', text: 'both', as: 'tester' });
  expect(await worker.reached).toBe(turnId);
  return rig.engine.client.turn(turnId);
}

/** The same, and its run is terminated there, so that nobody starts the undoing. */
async function leftBehind(): Promise<{ key: string; id: string | null; undoing: string }> {
  const turn = await atTheEnd('HOLD');
  const handle = rig.engine.temporal.workflow.getHandle(turn.workflowId);
  await handle.terminate('by mistake');
  await waitFor(async () => (await handle.describe()).status.name === 'TERMINATED', { what: 'the end of the run' });
  worker!.release();
  const { key, externalId: id } = effectOf(turn, 'auto');
  const undoing = await rig.undoing(key);
  expect(await rig.engine.client.turn(undoing)).toMatchObject({ status: 'queued' });
  return { key, id, undoing };
}

const sweep = () => rig.engine.temporal.schedule.getHandle(`holdfast-reconcile-${rig.engine.taskQueue}`).trigger();

describe('an undoing that was stored with the end of a turn and not started', () => {
  it('D29, D36: its worker is killed there → another one starts it, once', async () => {
    const turn = await atTheEnd('SIGKILL');
    await worker!.exited;
    worker = await rig.engine.worker();
    const { key, externalId } = effectOf(turn, 'auto');
    expect(await rig.engine.settled(await rig.undoing(key))).toMatchObject({ status: 'completed' });
    expect(await rig.cancels(externalId)).toBe(1);
  });

  it('D29, D15: the run is terminated there → the sweep starts it, once, however often it comes', async () => {
    const { id, undoing } = await leftBehind();
    await rig.engine.pool.query(`update holdfast.detached set created_at = created_at - interval '1 minute' where turn_id = $1`, [undoing]);
    await waitFor(async () => { await sweep(); return (await rig.engine.client.turn(undoing)).status === 'completed'; }, { what: 'the sweep to start the undoing', timeoutMs: 40_000 });
    await sweep();
    expect(await rig.cancels(id)).toBe(1);
  });

  it('D29: the run is terminated there → a person who asks for it starts it', async () => {
    const { key, id, undoing } = await leftBehind();
    expect(await rig.compensate(key)).toMatchObject({ result: 'being_undone', turnId: undoing });
    expect(await rig.engine.settled(undoing)).toMatchObject({ status: 'completed' });
    expect(await rig.cancels(id)).toBe(1);
  });
});
