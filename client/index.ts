/** Package entry `holdfast/client` (I14): everything a backend does. */
export { HoldfastClient } from './client.js';
export type { CompensationAnswer } from './compensate.js';
export { HoldfastError, type ErrorCode } from './errors.js';
export type { ClientSettings } from './settings.js';
export type { SubmitOptions, Submitted } from './submit.js';
export { standingOf, type Waited, type WaitOptions } from './wait.js';
export type { ApprovalView, Decision, DecisionAnswer, DiffLine } from '../contracts/approval.js';
export type { LedgerEntryView, Settlement } from '../contracts/ledger.js';
export type { MigrateAnswer, Migration } from '../contracts/migration.js';
export type { CancelAnswer, SettleAnswer } from '../contracts/steps.js';
export type { TurnStatus, TurnView } from '../contracts/turn.js';
