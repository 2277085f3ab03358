#!/usr/bin/env node
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { Faults } from './faults.mjs';
import { refuse } from './http.mjs';
import { Posts } from './posts.mjs';
import { Reservations } from './reservations.mjs';
import { handle } from './routes.mjs';

const USAGE = 'node examples/booking/server.mjs [--port 0] [--file reservations.json] [--mode keys,lookup] [--seats 40] [--quiet]';

function fail(message) {
  process.stderr.write(`booking server: ${message}\n${USAGE}\n`);
  process.exit(2);
}

function readOptions() {
  const options = {
    port: { type: 'string', default: '9100' },
    file: { type: 'string', default: 'reservations.json' },
    mode: { type: 'string', default: 'keys,lookup' },
    seats: { type: 'string', default: '40' },
    quiet: { type: 'boolean', default: false },
  };
  const { values } = parseArgs({ options });
  const features = values.mode.split(',').filter((name) => name !== '' && name !== 'none');
  const strange = features.find((name) => name !== 'keys' && name !== 'lookup');
  if (strange !== undefined) throw new Error(`unknown mode "${strange}"; known: keys, lookup, none`);
  const [port, seats] = [Number(values.port), Number(values.seats)];
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port ${values.port} is not a port`);
  if (!Number.isInteger(seats) || seats < 1) throw new Error(`--seats ${values.seats} must be a whole number above 0`);
  return { ...values, port, seats, keys: features.includes('keys'), lookup: features.includes('lookup') };
}

function start(options) {
  const context = {
    reservations: new Reservations(options.file, { seats: options.seats, honourKeys: options.keys }),
    faults: new Faults(),
    posts: new Posts(),
    features: { lookup: options.lookup },
  };
  const server = createServer((request, response) => {
    if (!options.quiet) response.on('close', () => process.stderr.write(`${request.method} ${request.url} ${response.statusCode}\n`));
    handle(request, response, context).catch((error) => {
      process.stderr.write(`${request.method} ${request.url}: ${error.message}\n`);
      refuse(response, 500, 'internal', 'the booking server has a defect; see its log');
    });
  });
  server.on('error', (error) => fail(error.message));
  server.listen(options.port, '127.0.0.1', () => {
    process.stdout.write(`booking server: http://127.0.0.1:${server.address().port}\n`);
  });
  const stop = () => {
    server.close(() => {
      context.reservations.close();
      process.exit(0);
    });
    server.closeAllConnections();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

try {
  start(readOptions());
} catch (error) {
  fail(error.message);
}
