-- Turns that outlive the one that began them (D29, D30): each runs in a workflow of its own, and its end is told in the owner's conversation.
create table detached (
  turn_id text primary key references turn on delete cascade,
  ordinal bigint generated always as identity,
  kind text not null check (kind in ('work', 'compensation')),
  -- the call that began it, or the effect that it undoes
  key text not null references ledger_entry on delete cascade,
  owner_turn_id text not null references turn,
  agent text not null,
  thread_id text not null,
  asked_by text not null,
  reason text,
  created_at timestamptz not null default now()
);
create index detached_by_thread on detached (agent, thread_id, ordinal desc);
create index detached_by_owner on detached (owner_turn_id);
create index detached_by_key on detached (key);
