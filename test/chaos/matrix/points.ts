/**
 * Where a turn stands when the fault strikes (D36). `before_send` is the moment before the first byte, `after_effect` the one after the commit
 * outside, `after_record` the one before Temporal's checkpoint, `before_report` the one before the answer to the user is stored. A cancel comes
 * at once with the answer of the effects, or with the report of the turn.
 */
export const POINTS = [
  'before_dispatch', 'after_dispatch', 'before_send', 'after_effect', 'after_record', 'before_report', 'waiting_approval', 'cancel_with_answer', 'cancel_with_report',
] as const;
export type Point = (typeof POINTS)[number];

/** On which side of the effect the connection is cut, while the target has the request. */
export const CUTS = ['call_before_effect', 'call_after_effect'] as const;
export type Cut = (typeof CUTS)[number];

export const FAULTS = ['worker_killed', 'worker_frozen', 'postgres_restarted', 'temporal_restarted', 'connection_cut'] as const;
export type Fault = (typeof FAULTS)[number];

/** The probe of activities/deps.ts at which the worker is held, and how many calls come to it; null: the turn just waits. */
export function probeAt(point: Point, effects: number): { at: string; count: number } | null {
  if (point === 'waiting_approval') return null;
  if (point === 'before_report' || point === 'cancel_with_report') return { at: 'before_report', count: 1 };
  return { at: point === 'cancel_with_answer' ? 'after_effect' : point, count: effects };
}

export function cancels(point: Point | Cut): boolean {
  return point === 'cancel_with_answer' || point === 'cancel_with_report';
}
