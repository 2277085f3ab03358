// The strict fake model as a process: `node test/support/fake-model/main.mjs [PORT]`. Prints one JSON line with its URL, then serves
// until SIGTERM or SIGINT. Control: PUT /script, GET /requests, GET /violations at the origin of that URL.
import { register } from 'node:module';

register('./ts-loader.mjs', import.meta.url);
const { startFakeModel } = await import('./index.ts');
const model = await startFakeModel({ port: Number(process.argv[2] ?? 0) });
console.log(JSON.stringify({ url: model.url }));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void model.close());
