import type { SmtpEffect } from '../../contracts/effect.js';
import { MAIL_INPUT_SCHEMA } from '../../contracts/mail.js';

/** A mail by a server on loopback without encryption. */
export function mailEffect(port: number, smtp: Partial<SmtpEffect['smtp']> = {}): SmtpEffect {
  return {
    name: 'mail', type: 'smtp', description: 'Send a mail', inputSchema: MAIL_INPUT_SCHEMA, sequential: false, timeoutMs: 5000,
    smtp: { host: '127.0.0.1', port, security: 'none', userEnv: null, passwordEnv: null, from: 'Bookings <bookings@example.com>', ...smtp },
    idempotency: null, lookup: null, unknown: { retry: 'never' }, approval: null, maxConcurrent: null, compensates: null, compensatedBy: null,
  };
}
