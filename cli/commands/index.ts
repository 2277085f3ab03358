import type { Register } from '../program.js';
import { registerApi } from './api.js';
import { registerApproval } from './approval.js';
import { registerCapabilities } from './capabilities.js';
import { registerConfig } from './config.js';
import { registerDev } from './dev.js';
import { registerDoctor } from './doctor.js';
import { registerHistory } from './history.js';
import { registerLedger } from './ledger.js';
import { registerMigrate } from './migrate.js';
import { registerSend } from './send.js';
import { registerTurn } from './turn.js';
import { registerWorker } from './worker.js';

/** Every command, in the order of the help text. */
export const COMMANDS: readonly Register[] = [
  registerDev, registerSend, registerTurn, registerApproval, registerLedger, registerCapabilities, registerWorker, registerApi, registerMigrate, registerDoctor,
  registerConfig, registerHistory,
];
