import { z } from 'zod';
import type { Finding } from './problems.ts';
import { secretReference } from './secret-reference.ts';
import { isTree, type Tree, valueAt } from './tree.ts';

const nodes = (port: number) =>
  z
    .array(
      z.strictObject({
        host: z.string().min(1).meta({ description: 'Its name or address.' }),
        port: z.int().min(1).max(65_535).default(port).meta({ description: 'Its port.' }),
      }),
    )
    .min(1);

const path = z.string().min(1);

/** The store that replicas share: one of `url`, `sentinels` with `masterName`, and `cluster` says where it is. */
export const redisSettings = z.strictObject({
  kind: z.literal('redis'),
  url: secretReference
    .meta({
      description:
        'Where the address is read, which may hold a password: redis://, rediss:// (TLS), or unix:// with a path.',
    })
    .optional(),
  sentinels: nodes(26_379)
    .meta({
      description: 'The Sentinels, instead of `url`: they say which Redis is the primary, also after a failover.',
    })
    .optional(),
  masterName: z.string().min(1).meta({ description: 'The name that the Sentinels know the primary by.' }).optional(),
  cluster: nodes(6379)
    .meta({ description: 'Some nodes of a Redis Cluster, instead of `url`; they tell the others.' })
    .optional(),
  username: z.string().min(1).meta({ description: 'The ACL user; `default` when left out.' }).optional(),
  password: secretReference.meta({ description: 'Where the password is read, when it is not in `url`.' }).optional(),
  sentinelUsername: z.string().min(1).meta({ description: 'The ACL user at the Sentinels.' }).optional(),
  sentinelPassword: secretReference.meta({ description: 'Where the password of the Sentinels is read.' }).optional(),
  tls: z
    .strictObject({
      ca: path.meta({ description: 'PEM file of the authority to trust, instead of those of the system.' }).optional(),
      cert: path.meta({ description: 'PEM file of our own certificate, when Redis asks for one.' }).optional(),
      key: path.meta({ description: 'PEM file of its private key.' }).optional(),
      servername: z
        .string()
        .min(1)
        .meta({ description: 'The name that the certificate must have; the host when left out.' })
        .optional(),
    })
    .meta({ description: 'Speaks TLS, to the Sentinels too. `rediss://` alone does so with what the system trusts.' })
    .optional(),
  keyPrefix: z
    .string()
    .regex(/^[A-Za-z0-9._:-]+$/, 'must be letters, digits and any of . _ : -')
    .default('coursegate')
    .meta({ description: 'Begins every key, so that several gates can share one Redis.' }),
  minReplicas: z.int().min(0).max(10).default(0).meta({
    description:
      'How many replicas must have a commit before it is acknowledged (WAIT). With a failover, 1 or more: a code that was used stays used.',
  }),
  allowEviction: z.boolean().default(false).meta({
    description: 'Starts though Redis may evict keys (maxmemory-policy): a used code it forgets could be used again.',
  }),
});

const PLACES = ['url', 'sentinels', 'cluster'];

/** What no single key can say: the store is in one place, and what belongs together is there together. */
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
    ...(second === undefined ? [] : [at(second, `cannot be beside ${first}: a redis store is in one place`)]),
    ...(given('sentinels') && !given('masterName') ? [at('sentinels', 'need `masterName`, such as mymaster')] : []),
    ...['masterName', 'sentinelUsername', 'sentinelPassword']
      .filter((key) => given(key) && !given('sentinels'))
      .map((key) => at(key, 'is for `sentinels`, and there are none')),
    ...(['cert', 'key'] as const)
      .filter((key) => valueAt(tree, ['store', 'tls', key]) !== undefined)
      .filter((_, __, both) => both.length === 1)
      .map((key) => at('tls', `has ${key} alone: cert and key go together`)),
  ];
}
