import { z } from 'zod';

/** Any JSON value. Numbers are finite doubles; integers outside ±2^53 never get this far (D14). */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const jsonSchema: z.ZodType<Json> = z.json() as z.ZodType<Json>;
export const jsonObjectSchema = z.record(z.string(), jsonSchema) as z.ZodType<JsonObject>;
