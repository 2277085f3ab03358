-- Versions (D34): what each ledger entry was decided under, and who moved a turn to another definition. (The table `migration` is the schema's own.)

-- Digest of the agent, prompt, tools, policy and model that an entry belongs to (D9). Null in entries of before this column: the turn's own.
alter table ledger_entry add column definition_digest text references definition;

-- Append-only.
create table turn_migration (
  id text primary key,
  ordinal bigint generated always as identity,
  turn_id text not null references turn on delete cascade,
  from_digest text not null references definition,
  to_digest text not null references definition,
  by text not null,
  reason text,
  -- calls that were closed by it and proposals that were shown anew
  closed jsonb not null,
  reproposed jsonb not null,
  at timestamptz not null default now()
);
create index turn_migration_by_turn on turn_migration (turn_id, ordinal);

create function turn_migration_guard() returns trigger language plpgsql as $$
begin
  raise exception 'the record of a migration never changes' using errcode = 'HF008';
end $$;
create trigger turn_migration_guard before update on turn_migration for each row execute function turn_migration_guard();

-- What was sent keeps the meaning that it was sent with: its look-up asks the same target under the same rules (D13, D34).
create function ledger_definition_guard() returns trigger language plpgsql as $$
begin
  if old.kind = 'effect' and old.state <> 'pending' then
    raise exception 'effect %: its definition is fixed once dispatched', old.key using errcode = 'HF009';
  end if;
  return new;
end $$;
create trigger ledger_definition_guard before update on ledger_entry for each row
  when (new.definition_digest is distinct from old.definition_digest) execute function ledger_definition_guard();

create index turn_needs_migration on turn (ordinal) where status = 'needs_migration' and ended_at is null;
