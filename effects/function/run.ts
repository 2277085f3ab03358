/** How a function of the application ended. Names instead of classes: the module may hold another copy of this package. */
export type Ended =
  | { kind: 'value'; value: unknown }
  | { kind: 'thrown'; as: 'not_sent' | 'rejected' | 'error'; message: string }
  | { kind: 'aborted'; late: Promise<Exclude<Ended, { kind: 'aborted' }>> };

const CLASSES: Record<string, 'not_sent' | 'rejected'> = { HoldfastNotSent: 'not_sent', HoldfastRejected: 'rejected' };

/**
 * Runs a function until it ends or the signal comes, whichever is first (D10). A function that ignores the signal goes on in the
 * background; `late` is what it comes to.
 */
export async function runUntil(work: () => unknown, signal: AbortSignal): Promise<Ended> {
  let stop = (): void => undefined;
  // One step later, so that a signal that comes while the function begins finds somebody who listens.
  const late = Promise.resolve().then(() => settle(work));
  const aborted = new Promise<Ended>((resolve) => {
    stop = () => resolve({ kind: 'aborted', late });
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([late, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function settle(work: () => unknown): Promise<Exclude<Ended, { kind: 'aborted' }>> {
  try {
    return { kind: 'value', value: await work() };
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    return { kind: 'thrown', as: Object.hasOwn(CLASSES, name) ? (CLASSES[name] ?? 'error') : 'error', message: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'an error that cannot be read';
  }
}
