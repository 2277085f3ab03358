/** Waits for SIGINT or SIGTERM. A second one ends the process at once. */
export interface StopSignal {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  received(): Promise<void>;
  /** Gives the signals back to Node. */
  dispose(): void;
}

const EXIT_BY_SIGNAL = 130;

export function listenForStop(onFirst: () => void): StopSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(EXIT_BY_SIGNAL);
    controller.abort(new Error('stopped by a signal'));
    onFirst();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    received: () => new Promise((resolve) => (controller.signal.aborted ? resolve() : controller.signal.addEventListener('abort', () => resolve(), { once: true }))),
    dispose: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
