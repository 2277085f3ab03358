-- The question of a remote agent belongs to the call that answers it only when the answer has gone out (D32). A call that ends before gives the
-- question back, whichever way it ends: the next call of the same child goes on with the same task.

-- The remote agent has said that the task which this call continues does not wait any more: there is no question to give back.
alter table remote_call add column answered boolean not null default false;

create function remote_question() returns trigger language plpgsql as $$
begin
  update remote_call r set question = r.continues
  where r.key = new.key and r.continues is not null and r.question is null and not r.answered
    and not exists (select from physical_call p where p.key = r.key and p.outcome in ('open', 'uncertain', 'succeeded'));
  return null;
end $$ set search_path = holdfast, pg_temp;

create trigger remote_question after update on ledger_entry for each row
  when (new.kind = 'child' and old.state in ('pending', 'dispatched') and new.state not in ('pending', 'dispatched')) execute function remote_question();
