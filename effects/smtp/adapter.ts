import type { SmtpEffect } from '../../contracts/effect.js';
import { CallError, clampMessage } from '../../domain/failure.js';
import { storable } from '../../domain/text.js';
import type { EffectAdapter, EffectCall, PerformResult } from '../types.js';
import { composeMail } from './message.js';
import { deliver } from './session.js';
import type { Delivery, Login } from './session.js';

/** `secrets` gives the value of an environment variable by name. */
export interface SmtpContext {
  secrets: (envName: string) => string | undefined;
}

/**
 * Effects that are one mail (D20). SMTP has neither look-up nor idempotency: whether a mail whose answer was lost was sent cannot be known, and
 * the outcome says so (D13). docs/effects.md says which answer means what.
 */
export function createSmtpAdapter(context: SmtpContext): EffectAdapter<SmtpEffect> {
  return {
    perform: (call, signal) => performSmtp(context, call, signal),
    lookup: async () => ({ kind: 'inconclusive', note: 'a mail server cannot be asked what it has sent' }),
    preview: async ({ args }) => ({ kind: 'preview', before: {}, after: args }),
    precondition: async ({ effect }) => {
      if (effect.approval?.precondition != null) throw new CallError('terminal', 'a mail has no precondition');
      return { holds: true };
    },
  };
}

async function performSmtp(context: SmtpContext, { effect, key, args }: EffectCall<SmtpEffect>, signal: AbortSignal): Promise<PerformResult> {
  const login = loginOf(context, effect);
  if ('problem' in login) return { kind: 'not_sent', message: login.problem, retryAfterMs: null };
  const message = await composeMail(effect.smtp.from, key, args);
  if (!message.ok) return { kind: 'rejected', result: null, message: `nothing was sent: ${message.problem}` };
  if (signal.aborted) return { kind: 'not_sent', message: 'the call was ended before it began', retryAfterMs: null };
  const delivery = await deliver(effect.smtp, login.login, message.mail, effect.timeoutMs, signal);
  return judge(delivery, message.id, message.mail.to, (text) => clampMessage(storable(login.login === null ? text : text.replaceAll(login.login.pass, '***'))));
}

function judge(delivery: Delivery, id: string, recipients: string[], clean: (text: string) => string): PerformResult {
  switch (delivery.kind) {
    case 'accepted':
      return { kind: 'succeeded', externalId: id, result: { messageId: id, recipients, response: clean(delivery.response) } };
    case 'refused':
      if (delivery.permanent) return { kind: 'rejected', result: null, message: clean(`the mail server refused it, nobody got it: ${delivery.response}`) };
      return { kind: 'not_sent', message: clean(`the mail server does not take it now, nobody got it: ${delivery.response}`), retryAfterMs: null };
    case 'not_sent':
      return { kind: 'not_sent', message: clean(`nothing was sent: ${delivery.message}`), retryAfterMs: null };
    case 'lost':
      return { kind: 'uncertain', message: clean(`the mail server did not say whether it took the mail: ${delivery.message}`), retryAfterMs: null };
  }
}

function loginOf(context: SmtpContext, { name, smtp }: SmtpEffect): { login: Login | null } | { problem: string } {
  const { userEnv, passwordEnv } = smtp;
  if (userEnv === null || passwordEnv === null) return { login: null };
  const [user, pass] = [context.secrets(userEnv), context.secrets(passwordEnv)];
  const missing = !user ? userEnv : !pass ? passwordEnv : null;
  return missing === null ? { login: { user: user ?? '', pass: pass ?? '' } } : { problem: `effect "${name}": environment variable ${missing} is not set; the mail server needs it` };
}
