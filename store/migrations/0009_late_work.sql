-- What a physical call came to, once it is known, stays: a repeated statement or a late answer only refines what was not known (D17). `absent` is
-- what a look-up concluded; the call's own answer, which may still come, says more.
create function physical_call_guard() returns trigger language plpgsql as $$
begin
  raise exception 'physical call %: known as % and fixed', old.id, old.outcome using errcode = 'HF014';
end $$;
alter function physical_call_guard() set search_path = holdfast, pg_temp;
create trigger physical_call_guard before update on physical_call for each row
  when (old.outcome in ('succeeded', 'rejected', 'not_sent') and new.outcome <> old.outcome) execute function physical_call_guard();

-- The work behind the call has outlived its time limit, and its worker has said that it goes on: until then it counts as in flight (D15, D27).
alter table physical_call add column goes_on_until timestamptz;
