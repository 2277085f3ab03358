import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/** A reservation's meaning, with fields in one fixed order, so that two requests can be compared as text. */
function meaning({ date, time, people, name, reference }) {
  return JSON.stringify([date, time, people, name, reference]);
}

/** Reads the journal. A last line without its newline was never acknowledged: it is cut off. */
function readJournal(file) {
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(10) + 1;
  if (end < bytes.length) truncateSync(file, end);
  const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(`${file}, line ${index + 1} is not JSON: repair or remove the file`);
    }
  });
}

/**
 * All reservations, in one append-only file that is synced before a change is visible. Every method is synchronous,
 * so concurrent requests under one key cannot come between the check and the write.
 */
export class Reservations {
  #byId = new Map();
  #byKey = new Map();
  #log = [];
  #fd;

  constructor(file, { seats, honourKeys }) {
    this.seats = seats;
    this.honourKeys = honourKeys;
    for (const event of readJournal(file)) this.#apply(event);
    this.#fd = openSync(file, 'a');
  }

  #apply(event) {
    this.#log.push(event);
    if (event.effect === 'cancel') {
      this.#byId.get(event.id).status = 'cancelled';
      return;
    }
    this.#byId.set(event.id, { ...event.reservation });
    if (event.key !== null && !this.#byKey.has(event.key)) this.#byKey.set(event.key, event);
  }

  #append(event) {
    writeSync(this.#fd, `${JSON.stringify(event)}\n`);
    fsyncSync(this.#fd);
    this.#apply(event);
  }

  /** `made`, `repeated` (same key, same request), `mismatch` (same key, other request) or `full`. */
  reserve(wanted, { key, reference }) {
    const mine = meaning({ ...wanted, reference });
    const earlier = this.honourKeys && key !== null ? this.#byKey.get(key) : undefined;
    if (earlier !== undefined) {
      const same = meaning({ ...earlier.reservation, reference: earlier.reference }) === mine;
      return same ? { kind: 'repeated', reservation: this.get(earlier.id) } : { kind: 'mismatch' };
    }
    if (wanted.people > this.seatsLeft(wanted.date)) return { kind: 'full' };
    const id = `R-${randomUUID().slice(0, 13)}`;
    const reservation = { id, ...wanted, status: 'confirmed' };
    this.#append({ seq: this.#log.length + 1, at: new Date().toISOString(), effect: 'reserve', id, key, reference, reservation });
    return { kind: 'made', reservation: this.get(id) };
  }

  cancel(id, key) {
    const found = this.#byId.get(id);
    if (found === undefined) return undefined;
    if (found.status !== 'cancelled') {
      this.#append({ seq: this.#log.length + 1, at: new Date().toISOString(), effect: 'cancel', id, key, reference: null });
    }
    return this.get(id);
  }

  get(id) {
    const found = this.#byId.get(id);
    return found === undefined ? undefined : { ...found };
  }

  all() {
    return [...this.#byId.keys()].map((id) => this.get(id));
  }

  /** Everything that was made under an idempotency key or a reference. */
  findByKey(key) {
    const ids = this.#log.filter((e) => e.effect === 'reserve' && (e.key === key || e.reference === key)).map((e) => e.id);
    return ids.map((id) => this.get(id));
  }

  seatsLeft(date) {
    const taken = this.all().filter((r) => r.date === date && r.status === 'confirmed');
    return taken.reduce((left, r) => left - r.people, this.seats);
  }

  /** What really happened, in order: one line for each effect, not for each request. */
  log() {
    return this.#log.map(({ seq, at, effect, id, key, reference }) => ({ seq, at, effect, id, key, reference }));
  }

  close() {
    closeSync(this.#fd);
  }
}
