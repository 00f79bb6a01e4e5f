import { z } from 'zod';
import { positive, text } from './name.ts';
import type { Finding } from './problems.ts';
import { pemFile, secret } from './secret.ts';
import { isTree, type Tree, valueAt } from './tree.ts';

const nodes = (port: number) =>
  z
    .array(
      z.strictObject({
        host: text.describe('Host name or address.'),
        port: positive.max(65_535).default(port).describe('Its port.'),
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
    .describe('The Sentinels, instead of `url`. They say which Redis is the primary, even after a failover.')
    .optional(),
  masterName: text.describe('Name under which the Sentinels monitor the primary.').optional(),
  cluster: nodes(6379)
    .describe('Some nodes of a Redis Cluster, instead of `url`. The other nodes are discovered from them.')
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
export function checkRedis(tree: Tree): readonly Finding[] {
  const store = tree.store;
  if (!isTree(store) || store.kind !== 'redis') return [];
  const at = (key: string, message: string): Finding => ({ path: ['store', key], at: 'value', message });
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
