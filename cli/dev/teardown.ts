/** What was started, to be stopped in reverse order. */
export class Teardown {
  private readonly steps: { what: string; stop: () => Promise<unknown> }[] = [];

  add(what: string, stop: () => Promise<unknown>): void {
    this.steps.push({ what, stop });
  }

  /** Stops everything, whatever fails on the way. Returns what could not be stopped. */
  async run(): Promise<string[]> {
    const failed: string[] = [];
    for (const { what, stop } of this.steps.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        failed.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return failed;
  }
}
