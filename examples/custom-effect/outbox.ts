import { access, appendFile, readFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname } from 'node:path';

export interface Entry {
  id: string;
  key: string;
  to: string;
  text: string;
}

/** The outbox cannot be written at all; nothing has happened. */
export class OutboxAway extends Error {}

/** A stand-in for an outside system: a file with one letter a line. It acts once per key and can be searched by key. */
export class Outbox {
  private writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly file: string) {}

  /** The letter as it is stored: the new one, or the one that is already there under its key. */
  put(letter: Omit<Entry, 'id'>, signal: AbortSignal): Promise<Entry> {
    const put = this.writing.then(() => this.putNext(letter, signal));
    this.writing = put.catch(() => undefined);
    return put;
  }

  async find(key: string): Promise<Entry[]> {
    return (await this.entries()).filter((entry) => entry.key === key);
  }

  async count(to: string): Promise<number> {
    return (await this.entries()).filter((entry) => entry.to === to).length;
  }

  /** Whether it may be written. */
  async isOpen(): Promise<boolean> {
    return access(dirname(this.file), constants.W_OK).then(() => true, () => false);
  }

  private async putNext(letter: Omit<Entry, 'id'>, signal: AbortSignal): Promise<Entry> {
    if (signal.aborted) throw new OutboxAway('the time for the call had passed before its turn came');
    if (!(await this.isOpen())) throw new OutboxAway('the folder of the outbox is not there');
    const [known] = await this.find(letter.key);
    if (known !== undefined) return known;
    const entry = { id: `L-${(await this.entries()).length + 1}`, ...letter };
    await appendFile(this.file, `${JSON.stringify(entry)}\n`);
    return entry;
  }

  private async entries(): Promise<Entry[]> {
    const text = await readFile(this.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
  }
}
