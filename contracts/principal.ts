import { z } from 'zod';

export const roleSchema = z.enum(['caller', 'approver', 'operator', 'admin']);
export type Role = z.infer<typeof roleSchema>;

/** Who acts. In `dev` auth the name is taken from the caller and every role is held (I9). */
export const principalSchema = z.object({ user: z.string().trim().min(1).max(200), roles: z.array(roleSchema) });
export type Principal = z.infer<typeof principalSchema>;
