/** Counts requests that ask for an effect, by idempotency key or reference (`-` without either). In memory only. */
export class Posts {
  #counts = new Map();

  count(key) {
    const name = key ?? '-';
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  counts() {
    return Object.fromEntries(this.#counts);
  }
}
