import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { within } from '../../activities/beat.js';
import { waitFor } from '../support/wait.js';

it('D35: a time limit comes although nobody keeps its signal and the memory is cleaned up meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const never = new AbortController().signal;
  let over = 0;
  for (let call = 0; call < 10; call += 1) within(never, 500).addEventListener('abort', () => { over += 1; }, { once: true });
  await waitFor(() => { collect(); return Promise.resolve(over === 10); }, { what: 'ten time limits', timeoutMs: 5000 });
});

it('D27, D35: the other signal ends it before its time', () => {
  const cancel = new AbortController();
  const signal = within(cancel.signal, 60_000);
  cancel.abort(new Error('cancelled'));
  expect(signal.reason).toEqual(new Error('cancelled'));
});
