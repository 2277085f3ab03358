// Effects that ignore their limit: they go on until their target at STUBBORN_URL has answered.
import { absent, defineEffect, found, Rejected, succeeded } from '../../dist/index.js';

async function perform({ key }) {
  const response = await fetch(`${process.env.STUBBORN_URL}/${key}`, { method: 'POST' });
  const { id, refused } = await response.json();
  if (refused !== undefined) throw new Rejected(refused);
  return succeeded({ externalId: id, result: { id } });
}

export default defineEffect({ perform });

/** The same at a target that can be asked. */
export const asked = defineEffect({
  perform,
  async lookup({ key }) {
    const { status } = await fetch(`${process.env.STUBBORN_URL}/${key}`);
    return status === 200 ? found({ externalId: key }) : absent();
  },
});
