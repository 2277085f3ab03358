import type { HoldfastClient, LedgerEntryView } from '../client/index.js';
import { guarantees, type Guarantees } from '../domain/capabilities.js';
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

/** What follows from the target of an entry's effect, by the definition that new turns use; null for other kinds and for an effect that is gone. */
export async function guaranteesOf(client: HoldfastClient, entry: Pick<LedgerEntryView, 'kind' | 'effect'>): Promise<Guarantees | null> {
  if (entry.kind !== 'effect') return null;
  const row = (await client.capabilities()).find(({ effect }) => effect.name === entry.effect);
  return row === undefined ? null : guarantees(capabilitiesOf(row.effect));
}
