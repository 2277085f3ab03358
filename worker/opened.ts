/** What a worker has opened, to be closed in the opposite order when it stops, and also when its start fails half-way. */
export class Opened {
  private readonly closers: (() => Promise<unknown>)[] = [];

  add(close: () => Promise<unknown>): void {
    this.closers.push(close);
  }

  /** Closes everything, once; one that fails to close keeps none of the others open. */
  async close(): Promise<void> {
    for (const close of this.closers.splice(0).reverse()) await close().catch(() => undefined);
  }
}
