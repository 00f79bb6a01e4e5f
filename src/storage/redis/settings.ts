import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { text } from '../../config/name.ts';
import type { UntracedProblem } from '../../config/problems.ts';
import { pemFile, secret } from '../../config/secret.ts';
import { type Tree, valueAt } from '../../config/tree.ts';
import { isObject } from '../../http/json-object.ts';

const NODE = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::([1-9]\d{0,4}))?$/;
const NODE_PROBLEM = 'must be a host and its port, such as redis.school.example:6379 or "[2001:db8::1]:6379"';

/** A list of `host:port`, with IPv6 addresses in brackets, parsed to hosts and ports. The port defaults to `port`. */
const nodes = (port: number) =>
  z
    .array(
      z
        .string(NODE_PROBLEM)
        .regex(NODE, NODE_PROBLEM)
        .transform((given, context) => {
          const [, address, name = '', own = port] = NODE.exec(given) ?? [];
          const node = { host: address ?? name, port: Number(own) };
          if (node.port <= 65_535 && (address === undefined || isIPv6(address))) return node;
          context.addIssue({ code: 'custom', message: NODE_PROBLEM });
          return z.NEVER;
        }),
    )
    .min(1);

function urlProblem(value: string): string | undefined {
  const known = /^(rediss?:\/\/[^/]|unix:\/\/\/)/.test(value) && URL.canParse(value);
  return known ? undefined : 'must be a redis://, rediss:// or unix:/// URL';
}

/** The store that replicas share. Its location is one of `url`, `sentinels` with `masterName`, or `cluster`. */
export const redisSettings = z.strictObject({
  kind: z.literal('redis'),
  url: secret(
    urlProblem,
    'Where to read the URL, which may include a password: redis://, rediss:// (TLS), or unix:// with a path.',
  ).optional(),
  sentinels: nodes(26_379)
    .describe(
      'The Sentinels, as `host:port`, instead of `url`. They say which Redis is the primary, even after a failover. The port defaults to 26379.',
    )
    .optional(),
  masterName: text.describe('Name under which the Sentinels monitor the primary.').optional(),
  cluster: nodes(6379)
    .describe(
      'Some nodes of a Redis Cluster, as `host:port`, instead of `url`. The other nodes are discovered from them. The port defaults to 6379.',
    )
    .optional(),
  username: text.describe('ACL user. Defaults to `default`.').optional(),
  password: secret(undefined, 'Where to read the password, if it is not in `url`.').optional(),
  sentinelUsername: text.describe('ACL user at the Sentinels.').optional(),
  sentinelPassword: secret(undefined, 'Where to read the password of the Sentinels.').optional(),
  tls: z
    .strictObject({
      ca: pemFile('authority', 'PEM file with the certificate authority to trust instead of the system’s.').optional(),
      cert: pemFile('certificate', 'PEM file with the client certificate, if Redis requires one.').optional(),
      key: pemFile('key', 'PEM file with its private key.').optional(),
      servername: text.describe('Name that the certificate must have. Defaults to the host.').optional(),
    })
    .describe('Turns on TLS, also for the Sentinels. Not needed with `rediss://` if the system trusts the certificate.')
    .optional(),
  keyPrefix: z
    .string()
    .regex(/^[A-Za-z0-9._:-]+$/, 'must be letters, digits and any of . _ : -')
    .default('coursegate')
    .describe('Prefix of every key, so that several gates can share one Redis.'),
  minReplicas: z.int().min(0).max(10).default(0).meta({
    description:
      'How many replicas must have a write before it is acknowledged (WAIT). With failover, set at least 1, so that a used code stays used.',
  }),
});

const PLACES = ['url', 'sentinels', 'cluster'];

/** Checks across keys: exactly one location is given, and keys that belong together are given together. */
export function checkRedis(tree: Tree): readonly UntracedProblem[] {
  const store = tree.store;
  if (!isObject(store) || store.kind !== 'redis') return [];
  const at = (key: string, message: string): UntracedProblem => ({ path: ['store', key], at: 'value', message });
  const [first, second] = PLACES.filter((key) => store[key] !== undefined);
  const given = (key: string) => store[key] !== undefined;
  return [
    ...(first === undefined
      ? [at('kind', 'a redis store needs `url`, or `sentinels` with `masterName`, or `cluster`')]
      : []),
    ...(second === undefined
      ? []
      : [at(second, `cannot be combined with ${first}: give one location for the redis store`)]),
    ...(given('sentinels') && !given('masterName') ? [at('sentinels', 'need `masterName`, such as mymaster')] : []),
    ...['masterName', 'sentinelUsername', 'sentinelPassword']
      .filter((key) => given(key) && !given('sentinels'))
      .map((key) => at(key, 'only applies with `sentinels`')),
    ...(['cert', 'key'] as const)
      .filter((key) => valueAt(tree, ['store', 'tls', key]) !== undefined)
      .filter((_, __, both) => both.length === 1)
      .map((key) => at('tls', `has only ${key}: cert and key go together`)),
  ];
}
