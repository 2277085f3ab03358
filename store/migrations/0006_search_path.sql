-- A pooler between Holdfast and PostgreSQL hands each transaction to any session, so no function may depend on a session's search_path (C13).
alter function turn_guard() set search_path = holdfast, pg_temp;
alter function turn_migration_guard() set search_path = holdfast, pg_temp;
alter function ledger_guard() set search_path = holdfast, pg_temp;
alter function ledger_definition_guard() set search_path = holdfast, pg_temp;
alter function ledger_budget() set search_path = holdfast, pg_temp;
alter function budget_check(budget, ledger_entry, boolean) set search_path = holdfast, pg_temp;
