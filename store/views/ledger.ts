import type { Json } from '../../contracts/json.js';
import type { EntryKind, LedgerEntryView, LedgerState } from '../../contracts/ledger.js';
import type { Db } from '../pool.js';
import { boundedLimit, jsonAsText } from './rows.js';

interface EntryRow {
  key: string;
  turn_id: string;
  kind: EntryKind;
  name: string;
  state: LedgerState;
  outcome: 'succeeded' | 'failed' | null;
  version: number;
  generation: number;
  external_id: string | null;
  args: Json;
  result: Json;
  reason: string | null;
  attempts: LedgerEntryView['attempts'];
  evidence: LedgerEntryView['evidence'];
}

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

const COLUMNS = `
  e.key, e.turn_id, e.kind, e.name, e.state, e.outcome, e.version, e.generation, e.external_id, e.args, e.result, e.reason,
  coalesce((
    select jsonb_agg(jsonb_build_object('physicalCallId', c.id, 'outcome', c.outcome, 'note', c.note,
      'at', to_char(c.started_at at time zone 'utc', ${ISO})) order by c.generation, c.started_at, c.id)
    from holdfast.physical_call c where c.key = e.key), '[]'::jsonb) as attempts,
  coalesce((
    select jsonb_agg(jsonb_build_object('by', v.by, 'found', v.found, 'note', v.note,
      'at', to_char(v.at at time zone 'utc', ${ISO})) order by v.id)
    from holdfast.evidence v where v.key = e.key), '[]'::jsonb) as evidence`;

/** jsonb has an order of keys of its own; people read these objects in ours. */
function toView(row: EntryRow): LedgerEntryView {
  return {
    key: row.key, turnId: row.turn_id, kind: row.kind, effect: row.name, state: row.state, outcome: row.outcome, version: row.version,
    generation: row.generation, externalId: row.external_id, args: row.args, result: jsonAsText(row.result), reason: row.reason,
    attempts: row.attempts.map(({ physicalCallId, at, outcome, note }) => ({ physicalCallId, at, outcome, note })),
    evidence: row.evidence.map(({ at, by, found, note }) => ({ at, by, found, note })),
  };
}

export interface LedgerFilter {
  state?: LedgerState | undefined;
  /** A turn and everything its children did. */
  turnId?: string | undefined;
  kind?: EntryKind | undefined;
  limit?: number | undefined;
}

/**
 * Ledger entries in the order in which their turns were accepted, then by step and index (C15); at most `limit`
 * (100, never above 500), the newest turns when there are more.
 */
export async function listLedger(db: Db, filter: LedgerFilter = {}): Promise<LedgerEntryView[]> {
  const { rows } = await db.query<EntryRow>(
    `with chosen as (
       select e.key, t.ordinal, e.step, e.idx from holdfast.turn t join holdfast.ledger_entry e on e.turn_id = t.turn_id
       where ($1::text is null or e.state = $1) and ($3::text is null or e.kind = $3)
         and ($2::text is null or t.turn_id = $2 or (t.root_turn_id = $2 and t.root_turn_id <> t.turn_id))
       order by t.ordinal desc, e.step desc, e.idx desc limit $4)
     select ${COLUMNS} from chosen join holdfast.ledger_entry e using (key) order by chosen.ordinal, chosen.step, chosen.idx`,
    [filter.state ?? null, filter.turnId ?? null, filter.kind ?? null, boundedLimit(filter.limit)],
  );
  return rows.map(toView);
}

/** Effects whose outcome is open: what a reconcile sweep looks at (D15). Oldest deadline first, at most 500. */
export async function unsettledKeys(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `select key from holdfast.ledger_entry where kind = 'effect' and state in ('dispatched', 'unknown') order by inflight_until nulls first limit 500`,
  );
  return rows.map((row) => row.key);
}

/** The entries with these keys, in the order of their keys. */
export async function ledgerEntries(db: Db, keys: string[]): Promise<LedgerEntryView[]> {
  const { rows } = await db.query<EntryRow>(`select ${COLUMNS} from holdfast.ledger_entry e where e.key = any($1) order by e.key`, [keys]);
  return rows.map(toView);
}

/** One entry with its attempts and evidence, or null. */
export async function ledgerEntryView(db: Db, key: string): Promise<LedgerEntryView | null> {
  return (await ledgerEntries(db, [key]))[0] ?? null;
}
