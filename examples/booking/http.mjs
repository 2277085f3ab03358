const MAX_BODY_BYTES = 1_000_000;

/** Reads a request body as JSON; no body is an empty object. */
export async function readJson(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return { problem: { status: 413, error: 'too_large', message: 'the body is larger than 1 MB' } };
    chunks.push(chunk);
  }
  if (size === 0) return { body: {} };
  try {
    return { body: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { problem: { status: 400, error: 'not_json', message: 'the body is not JSON' } };
  }
}

export function send(response, status, body, headers = {}) {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(`${JSON.stringify(body)}\n`);
}

export function refuse(response, status, error, message) {
  send(response, status, { error, message });
}

/** One header as text, or null. */
export function header(request, name) {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Does to the answer what a fault says. True when the request may go on. */
export function survive(strike, response) {
  if (strike.kind === 'go') return true;
  if (strike.kind === 'fail') send(response, strike.status, { error: 'fault', message: `fault on demand: ${strike.status}` }, strike.headers);
  if (strike.kind === 'drop') response.destroy();
  return false;
}
