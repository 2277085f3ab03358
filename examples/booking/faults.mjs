import { setTimeout as delay } from 'node:timers/promises';

const WHEN = ['before', 'after'];
const LOOKUPS = ['ok', 'fail', 'garbage', 'many', 'no_id', 'empty'];
const FIELDS = {
  delayBeforeMs: isDelay,
  delayAfterMs: isDelay,
  failNext: (v) => isCounted(v) && (v.status === undefined || (Number.isInteger(v.status) && v.status >= 200 && v.status <= 599)),
  dropNext: isCounted,
  hangNext: isCounted,
  lookup: (v) => LOOKUPS.includes(v),
};

function isDelay(value) {
  return Number.isInteger(value) && value >= 0 && value <= 600_000;
}

function isCounted(value) {
  return typeof value === 'object' && value !== null && Number.isInteger(value.count ?? 1) && WHEN.includes(value.when ?? 'before');
}

/**
 * Trouble on demand, for tests and demonstrations. `before` and `after` say on which side of the effect it strikes:
 * after the effect, the reservation exists although the caller does not learn it.
 */
export class Faults {
  #set = {};
  #gate = null;
  #waiting = 0;

  /** Adds to the faults in force. Returns what is wrong with the request, or null. */
  put(change) {
    if (typeof change !== 'object' || change === null || Array.isArray(change)) return 'the body must be a JSON object';
    for (const [name, value] of Object.entries(change)) {
      if (!Object.hasOwn(FIELDS, name)) return `unknown fault "${name}"; known: ${Object.keys(FIELDS).join(', ')}`;
      if (!FIELDS[name](value)) return `${name} is not usable: ${JSON.stringify(value)}`;
    }
    for (const [name, value] of Object.entries(change)) {
      this.#set[name] = typeof value === 'object' ? { count: 1, when: 'before', ...value } : value;
    }
    return null;
  }

  clear() {
    this.#set = {};
  }

  get current() {
    return { lookup: 'ok', ...this.#set };
  }

  get waiting() {
    return this.#waiting;
  }

  /** Requests that come to this side of the effect wait here until `release`. */
  hold(when) {
    if (!WHEN.includes(when)) return 'when must be "before" or "after"';
    this.release();
    let open;
    const opened = new Promise((resolve) => { open = resolve; });
    this.#gate = { when, opened, open };
    return null;
  }

  release() {
    this.#gate?.open();
    this.#gate = null;
  }

  #take(name, when) {
    const fault = this.#set[name];
    if (fault === undefined || fault.when !== when || fault.count <= 0) return undefined;
    fault.count -= 1;
    return fault;
  }

  async #waitAtGate(when) {
    if (this.#gate?.when !== when) return;
    this.#waiting += 1;
    await this.#gate.opened;
    this.#waiting -= 1;
  }

  /** What strikes a request on this side of the effect: `go`, `drop`, `hang`, or a `fail` with its status. */
  async strike(when) {
    await this.#waitAtGate(when);
    const ms = this.#set[when === 'before' ? 'delayBeforeMs' : 'delayAfterMs'] ?? 0;
    if (ms > 0) await delay(ms);
    const failed = this.#take('failNext', when);
    if (failed !== undefined) return { kind: 'fail', status: failed.status ?? 503, headers: failed.headers ?? {} };
    if (this.#take('dropNext', when) !== undefined) return { kind: 'drop' };
    if (this.#take('hangNext', when) !== undefined) return { kind: 'hang' };
    return { kind: 'go' };
  }
}
