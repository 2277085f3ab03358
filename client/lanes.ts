import pLimit, { type LimitFunction } from 'p-limit';

/** Updates of one process that one run holds at a time. The server takes ten in all and refuses the rest. */
const AT_ONCE = 6;

/** Lets the calls to one workflow through a few at a time, in the order in which they came, instead of having the server turn them away. */
export class Lanes {
  private readonly lanes = new Map<string, LimitFunction>();

  async run<T>(workflowId: string, call: () => Promise<T>): Promise<T> {
    const lane = this.lanes.get(workflowId) ?? pLimit(AT_ONCE);
    this.lanes.set(workflowId, lane);
    try {
      return await lane(call);
    } finally {
      if (lane.activeCount + lane.pendingCount === 0) this.lanes.delete(workflowId);
    }
  }
}
