/** Waits for SIGINT or SIGTERM. A second one ends the process at once. */
export interface StopSignal {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  received(): Promise<void>;
  /** From now on the first signal lets what runs end in order. */
  ready(): void;
  /** Gives the signals back to Node. */
  dispose(): void;
}

const EXIT_BY_SIGNAL = 130;

/** `untilReady` "exit": before `ready()` nothing runs that must end in order, so that a signal ends the process at once, with 0. */
export function listenForStop(onFirst: () => void, untilReady: 'exit' | 'note' = 'note'): StopSignal {
  const controller = new AbortController();
  let endsAtOnce = untilReady === 'exit';
  const stop = () => {
    if (endsAtOnce) process.exit(0);
    if (controller.signal.aborted) process.exit(EXIT_BY_SIGNAL);
    controller.abort(new Error('stopped by a signal'));
    onFirst();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    received: () => new Promise((resolve) => (controller.signal.aborted ? resolve() : controller.signal.addEventListener('abort', () => resolve(), { once: true }))),
    ready: () => {
      endsAtOnce = false;
    },
    dispose: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
