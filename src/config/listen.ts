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
    host: z.string().default('127.0.0.1').meta({
      description: 'Address to listen on: 0.0.0.0 for every IPv4 address, :: for every address.',
    }),
    port: z.int().min(0).max(65_535).default(8080).describe('Public port. 0 picks a free one.'),
    reusePort: z.boolean().default(false).meta({
      description:
        'Lets several gates on this machine share the port; the kernel distributes connections among them (docs/scaling.md). Requires a redis store, and a different admin port for each gate.',
    }),
    maxConnections: positive.default(10_000).meta({
      description:
        'Client connections open at the same time, including idle ones. One address (for IPv6: one /64) may have a fifth of them, except trusted proxies, which connect for many clients. Further ones get 503 and are closed. A proxied connection uses two file descriptors: if the process may open too few files, fewer connections are accepted, which the log says at the start.',
    }),
    trustedProxies: z.array(trustedProxy).default([]).meta({
      description:
        'Proxies in front of the gate that are trusted to set the client address (X-Forwarded-For), request ID and trace context: addresses, networks such as 10.0.0.0/8, `loopback` or `private`. From anyone else these fields are removed.',
    }),
    admin: z
      .strictObject({
        host: z.string().default('127.0.0.1').meta({
          description: 'Its address. Use a non-loopback address only on a network that outsiders cannot reach.',
        }),
        port: z.int().min(0).max(65_535).default(9090).describe('Its port. 0 picks a free one.'),
      })
      .prefault({})
      .describe('The admin listener: health, metrics and commands.'),
    probes: z
      .strictObject({
        host: z.string().default('127.0.0.1').describe('Its address: 0.0.0.0 for every IPv4 address.'),
        port: z.int().min(0).max(65_535).default(9091).describe('Its port. 0 picks a free one.'),
      })
      .optional()
      .describe(
        'A separate listener that serves only /livez, /readyz and /metrics, so that a kubelet or Prometheus on another machine can reach them while the admin listener stays on loopback. Off if omitted.',
      ),
    decisions,
    drain: z
      .strictObject({
        notice: duration.prefault('0s').meta({
          description:
            'After SIGTERM, how long the gate keeps accepting requests while /readyz returns 503. Set it to the time your load balancer needs to notice.',
        }),
        grace: duration.prefault('10s').meta({
          description:
            'After `notice`, how long requests in flight may take to finish before their connections are closed.',
        }),
      })
      .prefault({})
      .describe('How the gate shuts down.'),
  })
  .transform((given) => ({
    ...given,
    ...LISTEN,
    maxConnectionsPerAddress: Math.ceil(given.maxConnections * SHARE_OF_ONE_ADDRESS),
  }));
