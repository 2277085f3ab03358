import type { Capabilities } from '../contracts/effect.js';

/**
 * One line of the capability table in plain words (D19). `duplicates`: can the effect happen twice; `afterCrash`: what is done when the
 * answer was lost; `lateLanding`: what a call does that arrives after it was judged absent.
 */
export type Guarantees = {
  idempotency: string;
  lookup: string;
  duplicates: string;
  afterCrash: string;
  lateLanding: string;
  cancel: string;
  fencing: string;
  compensation: string;
};

/** What follows from a system's capabilities. Each sentence holds only if the system does what was declared of it. */
export function guarantees(capabilities: Capabilities): Guarantees {
  return {
    idempotency: idempotencyText(capabilities),
    lookup: lookupText(capabilities),
    duplicates: duplicatesText(capabilities),
    afterCrash: afterCrashText(capabilities),
    lateLanding: lateLandingText(capabilities),
    cancel: capabilities.cancel ? 'a running call is cancelled at the system' : 'the system cannot cancel; a call that has left may still take effect',
    fencing: capabilities.fencing ? 'the system refuses calls of an older owner' : 'only in the ledger; the system accepts calls of an older owner',
    compensation: capabilities.compensation === null ? 'none declared' : `by the effect "${capabilities.compensation}", as a new effect of its own`,
  };
}

function idempotencyText({ idempotency }: Capabilities): string {
  if (idempotency === null) return 'none';
  const other = idempotency.onMismatch === 'conflict' ? 'refused as a conflict' : 'not noticed: the first result is returned';
  return `${idempotency.how}, remembered for ${duration(idempotency.retentionMs)}; other arguments under the same key are ${other}`;
}

function lookupText({ lookup }: Capabilities): string {
  if (lookup === null) return 'none';
  const absence = lookup.authoritativeAbsence
    ? `"absent" is trusted ${duration(lookup.settleAfterMs)} after the call can no longer be on its way`
    : '"absent" proves nothing; only "found" counts';
  return `by ${lookup.by}; ${absence}`;
}

function duplicatesText({ idempotency, lookup }: Capabilities): string {
  if (idempotency !== null) {
    const then = lookup?.authoritativeAbsence === true
      ? 'after that, none unless a call lands after its proven absence'
      : 'after that nothing is sent again by itself';
    return `none while the key is remembered (${duration(idempotency.retentionMs)}); ${then}`;
  }
  if (lookup?.authoritativeAbsence === true) return 'none, unless a call lands after its absence was taken as proven';
  return 'none by itself; possible where the policy for unknown outcomes, or a person, tries again';
}

function afterCrashText({ idempotency, lookup }: Capabilities): string {
  const looked = lookup === null ? '' : 'look up first: found is recorded; ';
  if (idempotency !== null) {
    const later = lookup?.authoritativeAbsence === true ? 'after that, sent again only after proven absence' : 'after that a person decides';
    return `${looked}sent again under the same key while it is remembered; ${later}`;
  }
  if (lookup === null) return 'unknown: a person decides, or the declared policy tries again a bounded number of times';
  if (lookup.authoritativeAbsence) return `${looked}absent after the settle time is sent again; a look-up without a clear answer is unknown and a person decides`;
  return `${looked}anything else is unknown: looked up again from time to time; a person decides, or the declared policy tries again a bounded number of times`;
}

function lateLandingText({ idempotency, lookup }: Capabilities): string {
  if (idempotency !== null) return `harmless while the key is remembered (${duration(idempotency.retentionMs)}): both calls have one effect`;
  if (lookup?.authoritativeAbsence === true) return 'possible: a call that is delayed beyond its time limit and the settle time doubles the effect';
  return 'possible: a call that was settled as failed, or tried again, may still take effect';
}

const UNITS: [string, number][] = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000], ['millisecond', 1]];

/** A length of time in its largest whole unit: `24 hours` is `1 day`. */
function duration(ms: number): string {
  const [name, size] = UNITS.find(([, unit]) => ms >= unit && ms % unit === 0) ?? (['millisecond', 1] as const);
  const count = ms / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
