import type { HoldfastClient } from '../client/index.js';
import { guarantees } from '../domain/capabilities.js';
import { capabilitiesOf } from '../effects/capabilities.js';
import { inline } from './text.js';

/** The capability table of the definitions that new turns use: what each target offers, and what follows from it (D19). */
export async function capabilityLines(client: HoldfastClient) {
  return (await client.capabilities()).map(({ agent, effect }) => {
    const capabilities = capabilitiesOf(effect);
    return { agent, effect: effect.name, capabilities: { ...capabilities }, guarantees: { ...guarantees(capabilities) } };
  });
}

export function formatCapabilities(lines: Awaited<ReturnType<typeof capabilityLines>>): string {
  if (lines.length === 0) return 'no effects: a worker registers the effects of its configuration when it starts';
  return lines
    .map((line) => [`${line.effect} (agent ${line.agent})`, ...Object.entries(line.guarantees).map(([name, text]) => `  ${label(name)} ${inline(text, 200)}`)].join('\n'))
    .join('\n\n');
}

/** `afterCrash` as a person reads it. */
function label(name: string): string {
  return `${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}:`.padEnd(14);
}
