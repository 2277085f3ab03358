import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import type { Client } from '@a2a-js/sdk/client';
import type { A2aChild } from '../../contracts/definition.js';
import { guardedFetch, secretHeaders } from './guarded-fetch.js';
import type { Hide } from './guarded-fetch.js';

const CARD_PATH = '.well-known/agent-card.json';

/** How long a read card is used, in milliseconds. */
const CARD_LIFE_MS = 60_000;

export interface Connection {
  client: Client;
  hide: Hide;
}

export type Connect = (child: A2aChild) => Promise<Connection>;

/** Opens a child by its agent card, which is read again after a while. Protocol versions 1.0 and 0.3 are spoken, whichever the card names. */
export function connections(secrets: (envName: string) => string | undefined, now: () => number): Connect {
  const open = new Map<string, { until: number; connection: Promise<Connection> }>();
  return (child) => {
    const id = JSON.stringify([child.url, child.headersEnv]);
    const known = open.get(id);
    if (known !== undefined && known.until > now()) return known.connection;
    const connection = connect(child, secrets);
    open.set(id, { until: now() + CARD_LIFE_MS, connection });
    // A card that could not be read is asked for again by the next call.
    connection.catch(() => open.delete(id));
    return connection;
  };
}

async function connect(child: A2aChild, secrets: (envName: string) => string | undefined): Promise<Connection> {
  const { headers, hide } = secretHeaders(child, secrets);
  const options = { fetchImpl: guardedFetch(child, headers), legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)], cardResolver: new DefaultAgentCardResolver(options),
  });
  return { client: await factory.createFromUrl(cardUrl(child.url), ''), hide };
}

/** The card lies below the agent's own path, so that one server can hold several agents. */
function cardUrl(url: string): string {
  if (new URL(url).pathname.endsWith('.json')) return url;
  const base = new URL(url);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/${CARD_PATH}`;
  return base.href;
}
