-- What is known of a call of a remote agent beyond its ledger entry, whose external_id is the id of its task (D32).
create table remote_call (
  key text primary key references ledger_entry on delete cascade,
  agent text not null,
  thread_id text not null,
  child text not null,
  -- the task of an earlier call whose question this one answers
  continues text,
  -- the task that waits for an answer; the next call of the same child takes it
  question text
);
create index remote_question on remote_call (agent, thread_id, child) where question is not null;
