-- What a turn and the whole tree of its children may use (D33). A row exists only where a limit was declared; null is no limit.
create table budget (
  turn_id text primary key references turn on delete cascade,
  ordinal bigint generated always as identity,
  model_calls_limit bigint,
  tokens_limit bigint,
  cost_micros_limit bigint,
  effects_limit bigint,
  model_calls bigint not null default 0,
  tokens bigint not null default 0,
  cost_micros bigint not null default 0,
  effects bigint not null default 0,
  -- paid calls that run now, and the most that they can use
  in_flight int not null default 0,
  reserved_tokens bigint not null default 0,
  reserved_micros bigint not null default 0,
  -- the limit that was hit: nothing more of the tree begins
  exceeded text
);

-- Turns whose budgets a turn uses: itself and those above it, as far as they have one. Null: none, and nothing is counted.
alter table turn add column budgets text[];
-- Nothing of the turn begins after this time.
alter table turn add column deadline_at timestamptz;

-- Reserved for a paid call; null where the entry itself pays for nothing (a child agent pays by its own calls).
alter table ledger_entry add column reserved_tokens bigint, add column reserved_micros bigint, add column cost_micros bigint not null default 0;

-- Reserves before a call and settles after it, in the statement that moves the entry, so that no code path can skip it (D33).
-- HF010: a limit is hit; HF011: it may be hit by calls that run now, so that this one has to wait for them.
create function ledger_budget() returns trigger language plpgsql as $$
declare
  owners text[];
  deadline timestamptz;
  b budget;
  paid boolean := new.kind <> 'effect' and new.reserved_tokens is not null;
  begins boolean := new.state = 'dispatched' and (tg_op = 'INSERT' or old.state = 'pending');
  ends boolean := tg_op = 'UPDATE' and old.state = 'dispatched' and new.state <> 'dispatched';
begin
  select t.budgets, t.deadline_at into owners, deadline from turn t where t.turn_id = new.turn_id;
  if begins and deadline < now() then
    raise exception 'the time of turn % is over', new.turn_id using errcode = 'HF010', detail = 'wall_time', hint = new.turn_id;
  end if;
  if owners is null or not (paid or (new.kind = 'effect' and begins)) then
    return null;
  end if;
  if begins then
    for b in select * from budget where turn_id = any(owners) order by ordinal for update loop
      perform budget_check(b, new, paid);
    end loop;
    update budget set model_calls = model_calls + paid::int, effects = effects + (new.kind = 'effect')::int, in_flight = in_flight + paid::int,
      reserved_tokens = reserved_tokens + coalesce(new.reserved_tokens, 0), reserved_micros = reserved_micros + coalesce(new.reserved_micros, 0)
    where turn_id = any(owners);
  elsif ends then
    update budget set tokens = tokens + new.input_tokens + new.output_tokens, cost_micros = cost_micros + new.cost_micros, in_flight = in_flight - 1,
      reserved_tokens = reserved_tokens - old.reserved_tokens, reserved_micros = reserved_micros - coalesce(old.reserved_micros, 0)
    where turn_id = any(owners);
  end if;
  return null;
end $$;

create function budget_check(b budget, entry ledger_entry, paid boolean) returns void language plpgsql as $$
declare
  hit text := case
    when b.exceeded is not null then b.exceeded
    when not paid and b.effects >= b.effects_limit then 'effects'
    when paid and b.model_calls >= b.model_calls_limit then 'model_calls'
    when paid and b.tokens >= b.tokens_limit then 'tokens'
    when paid and b.cost_micros >= b.cost_micros_limit then 'cost_usd'
  end;
begin
  if hit is not null then
    raise exception 'the budget of turn % is used up: %', b.turn_id, hit using errcode = 'HF010', detail = hit, hint = b.turn_id;
  end if;
  if paid and b.in_flight > 0 and (b.tokens + b.reserved_tokens + entry.reserved_tokens > b.tokens_limit
     or b.cost_micros + b.reserved_micros + coalesce(entry.reserved_micros, 0) > b.cost_micros_limit) then
    raise exception 'calls that run now may use up the budget of turn %', b.turn_id using errcode = 'HF011';
  end if;
end $$;

create trigger ledger_budget_insert after insert on ledger_entry for each row when (new.state = 'dispatched') execute function ledger_budget();
create trigger ledger_budget_update after update on ledger_entry for each row
  when (old.state <> new.state and (old.state = 'dispatched' or new.state = 'dispatched')) execute function ledger_budget();
