import { z } from 'zod';
import { soundText } from './text.js';

export const roleSchema = z.enum(['caller', 'approver', 'operator', 'admin']);
export type Role = z.infer<typeof roleSchema>;

/** A person's name. Blank edges and Unicode forms make no second person out of one (D22, D26). */
export const userSchema = soundText(200).transform((name) => name.normalize('NFC').trim()).pipe(z.string().min(1, 'a name is needed'));

/** Who acts. In `dev` auth the name is taken from the caller and every role is held (I9). */
export const principalSchema = z.object({ user: userSchema, roles: z.array(roleSchema) });
export type Principal = z.infer<typeof principalSchema>;
