// An effect that ignores its limit: it goes on until its target at STUBBORN_URL has answered.
import { defineEffect, succeeded } from '../../dist/index.js';

export default defineEffect({
  async perform({ key }) {
    const response = await fetch(`${process.env.STUBBORN_URL}/${key}`, { method: 'POST' });
    const { id } = await response.json();
    return succeeded({ externalId: id, result: { id } });
  },
});
