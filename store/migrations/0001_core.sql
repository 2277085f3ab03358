-- Conversations, turns and the ledger. Times are timestamptz from the database's clock, order is by explicit numbers (C15).

create table thread (
  agent text not null,
  thread_id text not null,
  next_seq bigint not null default 1,
  created_at timestamptz not null default now(),
  primary key (agent, thread_id)
);

-- Everything that gives turns their meaning, by digest (D34).
create table definition (
  digest text primary key,
  agent text not null,
  body jsonb not null,
  created_at timestamptz not null default now()
);

-- The definition that new turns of an agent are pinned to.
create table current_definition (
  agent text primary key,
  digest text not null references definition
);

-- One row per accepted request; turn_id is derived from (agent, thread, request id), so a repeat meets its own row (D2).
create table turn (
  turn_id text primary key,
  ordinal bigint generated always as identity,
  agent text not null,
  thread_id text not null,
  request_id text not null,
  input_digest text not null,
  input jsonb not null,
  mode text not null default 'queue' check (mode in ('queue', 'steer')),
  requester text not null,
  workflow_id text not null,
  root_turn_id text not null,
  parent_key text,
  -- set when the input became part of a running turn (steer, or an answer to a waiting one); input_seq orders those
  merged_into text references turn,
  merged_step int,
  definition_digest text references definition,
  status text not null default 'queued' check (status in (
    'queued', 'working', 'waiting_approval', 'waiting_input', 'waiting_review', 'waiting_unknown', 'cancelling', 'needs_migration',
    'completed', 'cancelled', 'failed', 'rejected', 'budget_exceeded', 'expired')),
  text text,
  reason text,
  cancel_requested_at timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  unique (agent, thread_id, request_id)
);
create index turn_open on turn (ordinal) where ended_at is null;
create index turn_by_status on turn (status, ordinal);
create index turn_merged on turn (merged_into, ordinal) where merged_into is not null;
create index turn_children on turn (root_turn_id) where root_turn_id <> turn_id;

-- A turn ends once (D31).
create function turn_guard() returns trigger language plpgsql as $$
begin
  if old.ended_at is not null and (new.status, new.text, new.reason, new.ended_at) is distinct from (old.status, old.text, old.reason, old.ended_at) then
    raise exception 'turn % has already ended as %', old.turn_id, old.status using errcode = 'HF001';
  end if;
  return new;
end $$;
create trigger turn_guard before update on turn for each row execute function turn_guard();

create table message (
  agent text not null,
  thread_id text not null,
  seq bigint not null,
  grp bigint not null,
  turn_id text not null,
  body jsonb not null,
  primary key (agent, thread_id, seq)
);

-- One row per intent (D9). key = turn.step.index: issued here, never derived from arguments (D11).
create table ledger_entry (
  key text primary key,
  turn_id text not null references turn,
  step int not null,
  idx int not null,
  kind text not null check (kind in ('model', 'child', 'summary', 'effect', 'input')),
  name text not null,
  state text not null default 'pending' check (state in ('pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'reconciled', 'cancelled', 'conflict')),
  outcome text check (outcome in ('succeeded', 'failed')),
  version int not null default 0,
  generation int not null default 0,
  args jsonb,
  args_digest text,
  needs_approval boolean not null default false,
  result jsonb,
  external_id text,
  reason text,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  dispatched_at timestamptz,
  -- until then a physical call may still be on its way (D15)
  inflight_until timestamptz,
  created_at timestamptz not null default now(),
  constraint reconciled_has_outcome check ((state = 'reconciled') = (outcome is not null)),
  constraint effect_has_arguments check (kind <> 'effect' or (args is not null and args_digest is not null))
);
create index ledger_by_turn on ledger_entry (turn_id, step, idx);
create index ledger_unsettled on ledger_entry (inflight_until) where kind = 'effect' and state in ('dispatched', 'unknown');

-- Actual attempts to reach the outside world.
create table physical_call (
  id text primary key,
  key text not null references ledger_entry on delete cascade,
  generation int not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  outcome text not null default 'open' check (outcome in ('open', 'succeeded', 'rejected', 'not_sent', 'uncertain', 'absent')),
  note text
);
create index physical_call_by_key on physical_call (key, generation);

create table evidence (
  id bigint generated always as identity primary key,
  key text not null references ledger_entry on delete cascade,
  at timestamptz not null default now(),
  by text not null,
  found text check (found in ('found', 'absent', 'inconclusive')),
  note text not null
);
create index evidence_by_key on evidence (key, id);

-- Versions of what a person is asked to approve (D21). A row's content never changes.
create table proposal (
  approval_id text not null,
  version int not null,
  key text not null references ledger_entry on delete cascade,
  turn_id text not null references turn,
  hash text not null,
  args jsonb not null,
  args_digest text not null,
  diff jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'approved', 'rejected', 'expired', 'cancelled', 'superseded')),
  expires_at timestamptz not null,
  approvers int not null,
  roles text[] not null,
  requester text not null,
  requester_may_approve boolean not null,
  edited_by text,
  created_at timestamptz not null default now(),
  primary key (approval_id, version)
);
create unique index proposal_one_live on proposal (approval_id) where state in ('pending', 'approved');
create index proposal_pending on proposal (created_at) where state = 'pending';
create index proposal_by_turn on proposal (turn_id);

create table decision (
  approval_id text not null,
  version int not null,
  person text not null,
  decision text not null check (decision in ('approve', 'reject')),
  reason text,
  at timestamptz not null default now(),
  primary key (approval_id, version, person),
  foreign key (approval_id, version) references proposal on delete cascade
);

-- Signals and decisions that were refused, so that nothing sent by hand vanishes without a trace (D5).
create table refusal (
  id bigint generated always as identity primary key,
  source_id text not null unique,
  at timestamptz not null default now(),
  workflow_id text not null,
  kind text not null,
  message text not null
);

-- Bodies that are too large for their place, by hash (D8).
create table artifact (
  digest text primary key,
  body text not null,
  created_at timestamptz not null default now()
);

-- Reviewed summaries of work done (document 3).
create table work_history (
  key text primary key references ledger_entry on delete cascade,
  agent text not null,
  thread_id text not null,
  turn_id text not null references turn,
  child text not null,
  summary text not null,
  state text not null default 'provisional' check (state in ('provisional', 'committed', 'quarantine')),
  created_at timestamptz not null default now()
);
create index work_history_recent on work_history (agent, thread_id, created_at desc) where state = 'committed';
create index work_history_by_turn on work_history (turn_id);

-- Legal edges of the ledger (D10), the same list as docs/ledger.md; a test compares the two. No code path can skip it.
create function ledger_guard() returns trigger language plpgsql as $$
declare
  edge text := old.state || '>' || new.state;
begin
  if new.key is distinct from old.key or new.turn_id is distinct from old.turn_id or new.kind is distinct from old.kind
     or new.name is distinct from old.name or new.step <> old.step or new.idx <> old.idx or new.needs_approval <> old.needs_approval then
    raise exception 'ledger entry %: its identity is fixed', old.key using errcode = 'HF002';
  end if;
  if new.generation < old.generation then
    raise exception 'ledger entry %: generation % is older than %', old.key, new.generation, old.generation using errcode = 'HF003';
  end if;
  if old.state <> 'pending' and (new.args, new.args_digest) is distinct from (old.args, old.args_digest) then
    raise exception 'ledger entry %: arguments are fixed once dispatched', old.key using errcode = 'HF004';
  end if;
  if new.state = old.state and new.state not in ('pending', 'dispatched', 'unknown') and new is distinct from old then
    raise exception 'ledger entry %: settled as % and fixed', old.key, old.state using errcode = 'HF005';
  end if;
  if new.state <> old.state and edge not in (
    'pending>dispatched', 'pending>succeeded', 'pending>failed', 'pending>cancelled', 'pending>conflict',
    'dispatched>succeeded', 'dispatched>failed', 'dispatched>unknown', 'dispatched>reconciled', 'dispatched>conflict', 'dispatched>cancelled',
    'unknown>dispatched', 'unknown>reconciled') then
    raise exception 'ledger entry %: % to % is not a legal transition', old.key, old.state, new.state using errcode = 'HF006';
  end if;
  if (old.kind = 'effect' and edge in ('pending>succeeded', 'dispatched>cancelled'))
     or (old.kind <> 'effect' and (old.state = 'unknown' or new.state in ('unknown', 'reconciled', 'conflict'))) then
    raise exception '% %: % to % is not a legal transition', old.kind, old.key, old.state, new.state using errcode = 'HF006';
  end if;
  if new.state = 'dispatched' and old.state in ('dispatched', 'unknown') and (new.state <> old.state or new.dispatched_at is distinct from old.dispatched_at)
     and new.generation <= old.generation then
    raise exception 'ledger entry %: a redispatch needs a higher generation', old.key using errcode = 'HF003';
  end if;
  if new.kind = 'effect' and new.needs_approval and new.state = 'dispatched' and old.state = 'pending' and not exists (
    select 1 from proposal p where p.key = new.key and p.state = 'approved' and p.args_digest = new.args_digest) then
    raise exception 'effect %: no approval covers these arguments', old.key using errcode = 'HF007';
  end if;
  return new;
end $$;
create trigger ledger_guard before update on ledger_entry for each row execute function ledger_guard();
