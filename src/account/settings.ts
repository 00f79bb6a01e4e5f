import { z } from 'zod';
import { ACCOUNT, ACCOUNT_LIMITS } from '../config/constants.ts';
import { text } from '../config/name.ts';
import { secret } from '../config/secret.ts';

const count = (value: number) => z.int().min(1).default(value);

/** Limits on one operation. The defaults allow the standard introspection query and the queries in the contract. */
const limits = z
  .strictObject({
    /** Objects, as counted by cost.ts. */
    cost: count(5000),
    /** Calls that one operation makes to upstreams. */
    upstreamCalls: count(50),
  })
  .transform((given) => ({ ...given, ...ACCOUNT_LIMITS }));

/** All of them, with those that operators do not set. */
export type AccountLimits = Readonly<z.output<typeof limits>>;

/** The Account API. */
export const account = z
  .strictObject({
    enabled: z.boolean().default(true),
    schema: text,
    mappings: text,
    upstreamSchemas: z.record(z.string(), text).optional(),
    config: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _'),
        z.union([z.string(), z.number(), z.boolean(), secret()]),
      )
      .default({}),
    introspection: z.boolean().default(true),
    documents: z
      .strictObject({
        file: text,
        only: z.boolean().default(false),
      })
      .optional(),
    limits: limits.prefault({}),
  })
  .transform((given) => ({ ...given, ...ACCOUNT }));
