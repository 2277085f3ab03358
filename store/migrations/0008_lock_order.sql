-- Every transaction locks in one order (store/turn/lock.ts): turns from the root down, proposals, ledger entries, budgets from the root down.
-- Whoever settles several calls in one transaction would lock budgets between two entries; so settling waits for the commit, and budgets come last.
-- A closed budget lets nothing more of its tree begin, also what itself pays for nothing: a function, a remote agent, the call of a child agent (D33).
create or replace function ledger_budget() returns trigger language plpgsql as $$
declare
  owners text[];
  deadline timestamptz;
  b budget;
  paid boolean := new.kind <> 'effect' and new.reserved_tokens is not null;
  begins boolean := new.state = 'dispatched' and (tg_op = 'INSERT' or old.state = 'pending');
begin
  select t.budgets, t.deadline_at into owners, deadline from turn t where t.turn_id = new.turn_id;
  if begins and deadline < now() then
    raise exception 'the time of turn % is over', new.turn_id using errcode = 'HF010', detail = 'wall_time', hint = new.turn_id;
  end if;
  if owners is null or not (paid or begins) then
    return null;
  end if;
  -- Read after each lock was given; ordinals grow from a turn to its children.
  for b in select * from budget where turn_id = any(owners) order by ordinal for no key update loop
    if begins then
      perform budget_check(b, new, paid);
    end if;
  end loop;
  if begins and (paid or new.kind = 'effect') then
    update budget set model_calls = model_calls + paid::int, effects = effects + (new.kind = 'effect')::int, in_flight = in_flight + paid::int,
      reserved_tokens = reserved_tokens + coalesce(new.reserved_tokens, 0), reserved_micros = reserved_micros + coalesce(new.reserved_micros, 0)
    where turn_id = any(owners);
  elsif not begins then
    update budget set tokens = tokens + new.input_tokens + new.output_tokens, cost_micros = cost_micros + new.cost_micros, in_flight = in_flight - 1,
      reserved_tokens = reserved_tokens - old.reserved_tokens, reserved_micros = reserved_micros - coalesce(old.reserved_micros, 0)
    where turn_id = any(owners);
  end if;
  return null;
end $$;
alter function ledger_budget() set search_path = holdfast, pg_temp;

drop trigger ledger_budget_update on ledger_entry;
create trigger ledger_budget_begin after update on ledger_entry for each row
  when (old.state = 'pending' and new.state = 'dispatched') execute function ledger_budget();
create constraint trigger ledger_budget_settle after update on ledger_entry deferrable initially deferred for each row
  when (old.state = 'dispatched' and new.state <> 'dispatched') execute function ledger_budget();

create or replace function budget_check(b budget, entry ledger_entry, paid boolean) returns void language plpgsql as $$
declare
  hit text := case
    when b.exceeded is not null then b.exceeded
    when entry.kind = 'effect' and b.effects >= b.effects_limit then 'effects'
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
alter function budget_check(budget, ledger_entry, boolean) set search_path = holdfast, pg_temp;

-- Whether every physical call of an effect, if there was one, is proven to have had none (D10).
create function had_no_effect(entry_key text) returns boolean language sql stable set search_path = holdfast, pg_temp
as $$ select not exists (select from physical_call where key = entry_key and outcome in ('open', 'uncertain', 'succeeded')) $$;
