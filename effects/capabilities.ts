import type { Capabilities, EffectDefinition } from '../contracts/effect.js';

/** What the definition declares of the system behind an effect (D19): plain data, made without a secret and without a call. */
export function capabilitiesOf(effect: EffectDefinition): Capabilities {
  const { idempotency, lookup } = effect;
  return {
    idempotency: idempotency && { how: keyWay(effect), retentionMs: idempotency.retentionMs, onMismatch: idempotency.onMismatch },
    lookup: lookup && { by: lookupWay(effect), settleAfterMs: lookup.settleAfterMs, authoritativeAbsence: lookup.absence === 'authoritative' },
    cancel: false,
    fencing: effect.type === 'postgres' && effect.postgres.dsnEnv === null,
    compensation: effect.compensatedBy,
  };
}

/** How the target is given the key. */
function keyWay(effect: EffectDefinition): string {
  switch (effect.type) {
    case 'http':
      return `header ${effect.idempotency?.header}`;
    case 'mcp':
      return `argument ${effect.idempotency?.argument}`;
    case 'postgres':
      return effect.postgres.dsnEnv === null ? 'the ledger entry, in the same transaction' : 'a marker row, in the same transaction';
    default:
      return 'key';
  }
}

/** How the target is asked. */
function lookupWay(effect: EffectDefinition): string {
  switch (effect.type) {
    case 'http':
      return effect.lookup?.url ?? '';
    case 'mcp':
      return `the tool ${effect.lookup?.tool}`;
    case 'postgres':
      return effect.postgres.dsnEnv === null ? 'the ledger entry' : 'the marker row';
    default:
      return 'key';
  }
}
