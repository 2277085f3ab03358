// Function effects for tests with a real worker: a desk that keeps what it did in the file DESK_FILE, one line for each effect.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { absent, conflict, defineEffect, found, succeeded } from '../../dist/index.js';

const all = () => (existsSync(process.env.DESK_FILE) ? readFileSync(process.env.DESK_FILE, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)) : []);

function perform({ key, args }, once) {
  const known = once ? all().find((item) => item.key === key) : undefined;
  if (known !== undefined && JSON.stringify(known.args) !== JSON.stringify(args)) return conflict('other arguments under this key');
  const item = known ?? { key, args, id: `D-${all().length + 1}` };
  if (known === undefined) appendFileSync(process.env.DESK_FILE, `${JSON.stringify(item)}\n`);
  return succeeded({ externalId: item.id, result: { id: item.id } });
}

function lookup({ key }) {
  const item = all().find((one) => one.key === key);
  return item === undefined ? absent() : found({ externalId: item.id, result: { id: item.id } });
}

const twice = (request) => perform(request, false);
const once = (request) => perform(request, true);

export const keys_and_lookup = defineEffect({ perform: once, lookup });
export const keys_only = defineEffect({ perform: once });
export const lookup_only = defineEffect({ perform: twice, lookup });
export const neither = defineEffect({ perform: twice });
