import { header, readJson, refuse, send, survive } from './http.mjs';
import { readAvailability, readReservation } from './validate.mjs';

const LOOKUP_ANSWERS = {
  fail: (response) => refuse(response, 500, 'fault', 'fault on demand: look-up fails'),
  garbage: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>not what you asked for'),
  many: (response, found) => send(response, 200, [...found, { id: 'R-other-1' }, { id: 'R-other-2' }]),
  no_id: (response, found) => send(response, 200, found.length > 0 ? found.map(({ id, ...rest }) => rest) : [{ status: 'confirmed' }]),
  empty: (response) => send(response, 200, []),
};

/** POST /reservations. The correlation is the header X-Ref or the field `reference`. */
async function reserve({ request, response, body, reservations, faults, posts }) {
  const key = header(request, 'idempotency-key');
  const correlation = header(request, 'x-ref') ?? (typeof body?.reference === 'string' ? body.reference : null);
  posts.count(key ?? correlation);
  if (!survive(await faults.strike('before'), response)) return;
  const { problem, wanted, reference } = readReservation(body);
  if (problem !== undefined) return refuse(response, 422, 'invalid', problem);
  const done = reservations.reserve(wanted, { key, reference: header(request, 'x-ref') ?? reference });
  if (!survive(await faults.strike('after'), response)) return;
  if (done.kind === 'mismatch') return refuse(response, 409, 'idempotency_mismatch', 'this key was used for another reservation');
  if (done.kind === 'full') return refuse(response, 422, 'fully_booked', `fewer than ${wanted.people} seats are left on ${wanted.date}`);
  if (done.kind === 'repeated') return send(response, 200, done.reservation, { 'idempotency-replayed': 'true' });
  send(response, 201, done.reservation, { location: `/reservations/${done.reservation.id}` });
}

async function cancel({ request, response, id, reservations, faults, posts }) {
  const key = header(request, 'idempotency-key');
  posts.count(key);
  if (!survive(await faults.strike('before'), response)) return;
  const reservation = reservations.cancel(id, key);
  if (!survive(await faults.strike('after'), response)) return;
  if (reservation === undefined) return refuse(response, 404, 'not_found', `no reservation ${id}`);
  send(response, 200, reservation);
}

function list({ response, query, reservations, faults, features }) {
  const key = query.get('key');
  if (key === null) return send(response, 200, reservations.all());
  if (!features.lookup) return refuse(response, 404, 'no_lookup', 'this system cannot look up by key');
  const found = reservations.findByKey(key);
  const answer = LOOKUP_ANSWERS[faults.current.lookup];
  if (answer !== undefined) return answer(response, found);
  send(response, 200, found);
}

function show({ response, id, reservations }) {
  const found = reservations.get(id);
  if (found === undefined) return refuse(response, 404, 'not_found', `no reservation ${id}`);
  send(response, 200, found);
}

/** POST /preview {key, args}: the table situation without and with this reservation. Changes nothing. */
function preview({ response, body, reservations }) {
  const { problem, wanted } = readReservation(body?.args);
  if (problem !== undefined) return refuse(response, 422, 'invalid', problem);
  const seatsLeft = reservations.seatsLeft(wanted.date);
  if (wanted.people > seatsLeft) return refuse(response, 422, 'fully_booked', `only ${seatsLeft} seats are left on ${wanted.date}`);
  send(response, 200, {
    before: { date: null, time: null, people: null, name: null, seatsLeft },
    after: { ...wanted, seatsLeft: seatsLeft - wanted.people },
  });
}

function availability({ response, query, reservations }) {
  const { problem, date, people } = readAvailability(query);
  if (problem !== undefined) return refuse(response, 422, 'invalid', problem);
  const seatsLeft = reservations.seatsLeft(date);
  send(response, 200, { available: people <= seatsLeft, seatsLeft });
}

function putFaults({ response, body, faults }) {
  const problem = faults.put(body);
  if (problem !== null) return refuse(response, 400, 'invalid', problem);
  send(response, 200, faults.current);
}

function clearFaults({ response, faults }) {
  faults.clear();
  send(response, 200, faults.current);
}

function putHold({ response, body, faults }) {
  const problem = faults.hold(body?.when ?? 'before');
  if (problem !== null) return refuse(response, 400, 'invalid', problem);
  send(response, 200, { waiting: faults.waiting });
}

function release({ response, faults }) {
  faults.release();
  send(response, 200, { waiting: 0 });
}

/** First match wins; a named group of the pattern is the id of a reservation. */
const ROUTES = [
  ['POST', /^\/reservations$/, reserve],
  ['GET', /^\/reservations$/, list],
  ['GET', /^\/reservations\/(?<id>[^/]+)$/, show],
  ['DELETE', /^\/reservations\/(?<id>[^/]+)$/, cancel],
  ['POST', /^\/reservations\/(?<id>[^/]+)\/cancel$/, cancel],
  ['POST', /^\/preview$/, preview],
  ['GET', /^\/availability$/, availability],
  ['GET', /^\/log$/, ({ response, reservations }) => send(response, 200, reservations.log())],
  ['GET', /^\/posts$/, ({ response, posts }) => send(response, 200, posts.counts())],
  ['PUT', /^\/faults$/, putFaults],
  ['DELETE', /^\/faults$/, clearFaults],
  ['PUT', /^\/hold$/, putHold],
  ['DELETE', /^\/hold$/, release],
  ['GET', /^\/held$/, ({ response, faults }) => send(response, 200, { waiting: faults.waiting })],
];

/** Handles one request; `context` holds reservations, faults, posts and features. */
export async function handle(request, response, context) {
  const url = new URL(request.url, 'http://localhost');
  const route = ROUTES.find(([method, pattern]) => method === request.method && pattern.test(url.pathname));
  if (route === undefined) return refuse(response, 404, 'no_route', `no ${request.method} ${url.pathname}`);
  const { body, problem } = await readJson(request);
  if (problem !== undefined) return refuse(response, problem.status, problem.error, problem.message);
  const id = route[1].exec(url.pathname).groups?.id;
  await route[2]({ ...context, request, response, body, query: url.searchParams, id });
}
