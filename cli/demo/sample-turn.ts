import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient, TurnView } from '../../client/index.js';
import { standingOf } from '../../client/index.js';
import { formatLedger } from '../format-ledger.js';
import { indent, inline, printable } from '../text.js';
import { Progress } from './progress.js';

export const SAMPLE_TEXT = 'Book a table for 4 people on 2026-12-24 at 19:00 for Kim';
const APPROVER = 'demo-approver';
const LOOK_MS = 100;
const LONGEST_MS = 120_000;

export interface SampleOptions {
  client: HoldfastClient;
  agent: string;
  user: string;
  bookingUrl: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Runs the sample turn on real input in front of the user (I1) and returns it as it ended, or as it stood after two minutes. */
export async function runSampleTurn(options: SampleOptions): Promise<TurnView> {
  const { client, say } = options;
  say(`\nsample turn: "${SAMPLE_TEXT}"`);
  const { turnId } = await client.submit({ agent: options.agent, text: SAMPLE_TEXT, as: options.user });
  say(`  turn ${turnId}`);
  const turn = await follow(options, turnId);
  say(`\nanswer: ${printable(turn.text ?? `(${turn.status}: ${turn.reason ?? 'no reason given'})`)}`);
  say(`\nledger:\n${indent(formatLedger(await client.ledger({ turnId })))}`);
  say(`\nthe booking server reports: ${await reservations(options.bookingUrl, turn)}`);
  return turn;
}

async function follow({ client, say, signal }: SampleOptions, turnId: string): Promise<TurnView> {
  const progress = new Progress(say);
  const decided = new Set<string>();
  const deadline = Date.now() + LONGEST_MS;
  for (;;) {
    progress.ledger(await client.ledger({ turnId }));
    const turn = await client.turn(turnId);
    for (const approval of turn.approvals.filter((a) => a.state === 'pending' && !decided.has(a.hash))) {
      decided.add(approval.hash);
      progress.proposal(approval);
      const answer = await client.decide(approval.id, { hash: approval.hash, decision: 'approve', reason: 'approved by the demo', as: APPROVER });
      if (answer.result === 'refused') say(`  approval     refused: ${printable(answer.message)}`);
      else progress.decision(APPROVER, approval.hash);
    }
    const standing = standingOf(turn.status, false);
    if (standing === 'ended' || (standing === 'person' && turn.status !== 'waiting_approval') || Date.now() > deadline) {
      progress.ledger(await client.ledger({ turnId }));
      return turn;
    }
    await delay(LOOK_MS, undefined, { signal });
  }
}

/** What the target itself says about the effect of this turn: the check that the ledger tells the truth. */
async function reservations(bookingUrl: string, turn: TurnView): Promise<string> {
  const effect = turn.effects.find((e) => e.externalId !== null);
  if (effect === undefined) return 'nothing was booked in this turn';
  try {
    const reply = await fetch(`${bookingUrl}/reservations?key=${encodeURIComponent(effect.key)}`);
    return inline(await reply.text(), 300);
  } catch {
    return 'it cannot be reached';
  }
}
