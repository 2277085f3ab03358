import { z } from 'zod';
import type { JsonObject } from './json.js';

/** One mailbox without a display name. No control characters, so that an argument can never become a header or a command of its own. */
const ADDRESS = /^[^\s\p{Cc}@<>(),:;"\\[\]]{1,64}@[^\s\p{Cc}@<>(),:;"\\[\]]{1,255}$/u;
const address = z.string().regex(ADDRESS, 'must be one address such as kim@example.com, without a name');
const addresses = z.union([address, z.array(address).min(1).max(50)], { error: 'must be an address such as kim@example.com, or a list of 1 to 50' });
const line = z.string().regex(/^\P{Cc}*$/u, 'must be one line without control characters').max(900);

/** Arguments of an effect of type `smtp` (D20). Attachments are not supported. */
export const mailSchema = z.strictObject({
  to: addresses,
  cc: addresses.optional(),
  subject: line,
  text: z.string().max(1_000_000),
  html: z.string().max(1_000_000).optional(),
});
export type Mail = z.infer<typeof mailSchema>;

/** `kim@example.com`, or with a name: `The Bookings Team <bookings@example.com>`. */
export const senderSchema = z
  .string()
  .trim()
  .refine((text) => ADDRESS.test(text) || (/^[^\p{Cc}<>@"]+<[^<>]+>$/u.test(text) && ADDRESS.test(text.slice(text.indexOf('<') + 1, -1))), 'must be an address, or a name and an address: Bookings <bookings@example.com>')
  .meta({ kind: 'mail address' });

const ADDRESSES: JsonObject = {
  anyOf: [{ type: 'string', minLength: 3 }, { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string', minLength: 3 } }],
};

/** The arguments as a model sees them, where the effect gives no `input_schema` of its own. */
export const MAIL_INPUT_SCHEMA: JsonObject = {
  type: 'object',
  required: ['to', 'subject', 'text'],
  additionalProperties: false,
  properties: {
    to: { ...ADDRESSES, description: 'Address of the recipient, or a list of addresses' },
    cc: { ...ADDRESSES, description: 'Who gets a copy' },
    subject: { type: 'string', maxLength: 900, description: 'One line' },
    text: { type: 'string', description: 'The mail as plain text' },
    html: { type: 'string', description: 'The same as HTML; only if it is needed' },
  },
};
