import type { Pool } from '../../store/pool.js';

/** Rows as the store writes them, with defaults for what a test does not care about. */
export async function seedTurn(pool: Pool, turn: { id: string; thread?: string; status?: string; root?: string; parentKey?: string; mergedInto?: string; ended?: boolean }): Promise<void> {
  await pool.query(
    `insert into holdfast.turn (turn_id, agent, thread_id, request_id, input_digest, input, requester, workflow_id, root_turn_id, parent_key, status, merged_into, ended_at)
     values ($1, 'booking', $2, $1, 'd', '{"text":"hi"}', 'kim', $8, $3, $4, $5, $6, case when $7 then now() end)`,
    [turn.id, turn.thread ?? 'th', turn.root ?? turn.id, turn.parentKey ?? null, turn.status ?? 'working', turn.mergedInto ?? null, turn.ended ?? false, `wf-${turn.id}`],
  );
}

export async function seedEntry(
  pool: Pool,
  entry: { turn: string; step: number; idx: number; kind: string; name: string; state?: string; outcome?: string; externalId?: string; tokens?: [number, number]; dispatched?: boolean },
): Promise<string> {
  const key = `${entry.turn}.${entry.step}.${entry.idx}`;
  await pool.query(
    `insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, state, outcome, external_id, args, args_digest, input_tokens, output_tokens, dispatched_at, result)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, '{"people":4}', 'd', $10, $11, case when $12 then now() end, '"done"')`,
    [key, entry.turn, entry.step, entry.idx, entry.kind, entry.name, entry.state ?? 'succeeded', entry.outcome ?? null, entry.externalId ?? null,
      entry.tokens?.[0] ?? 0, entry.tokens?.[1] ?? 0, entry.dispatched ?? false],
  );
  return key;
}

export async function seedProposal(pool: Pool, proposal: { id: string; version?: number; key: string; turn: string; state?: string; ageSeconds?: number }): Promise<void> {
  await pool.query(
    `insert into holdfast.proposal (approval_id, version, key, turn_id, hash, args, args_digest, diff, state, expires_at, approvers, roles, requester, requester_may_approve, created_at)
     values ($1, $2, $3, $4, $7, '{"people":4}', 'd', '[{"field":"people","before":null,"after":4}]', $5,
       now() + interval '15 minutes', 1, '{approver}', 'kim', true, now() - make_interval(secs => $6))`,
    [proposal.id, proposal.version ?? 1, proposal.key, proposal.turn, proposal.state ?? 'pending', proposal.ageSeconds ?? 0, `hash-${proposal.id}-${proposal.version ?? 1}`],
  );
}
