import { z } from 'zod';
import { decisions } from '../decisions/settings.ts';
import { trustedProxyProblem } from '../http/trusted-proxies.ts';
import { LISTEN, SHARE_OF_ONE_ADDRESS } from './constants.ts';
import { positive } from './name.ts';
import { duration } from './units.ts';

const trustedProxy = z.string().superRefine((entry, context) => {
  const problem = trustedProxyProblem(entry);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** Where the gate listens, for whom, and how it stops. */
export const listen = z
  .strictObject({
    host: z.string().default('127.0.0.1'),
    port: z.int().min(0).max(65_535).default(8080),
    reusePort: z.boolean().default(false),
    maxConnections: positive.default(10_000),
    trustedProxies: z.array(trustedProxy).default([]),
    admin: z
      .strictObject({
        host: z.string().default('127.0.0.1'),
        port: z.int().min(0).max(65_535).default(9090),
      })
      .prefault({}),
    probes: z
      .strictObject({
        host: z.string().default('127.0.0.1'),
        port: z.int().min(0).max(65_535).default(9091),
      })
      .optional(),
    decisions,
    drain: z
      .strictObject({
        notice: duration.prefault('0s'),
        grace: duration.prefault('10s'),
      })
      .prefault({}),
  })
  .transform((given) => ({
    ...given,
    ...LISTEN,
    maxConnectionsPerAddress: Math.ceil(given.maxConnections * SHARE_OF_ONE_ADDRESS),
  }));
