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
  url: secret(urlProblem).optional(),
  sentinels: nodes(26_379).optional(),
  masterName: text.optional(),
  cluster: nodes(6379).optional(),
  username: text.optional(),
  password: secret().optional(),
  sentinelUsername: text.optional(),
  sentinelPassword: secret().optional(),
  tls: z
    .strictObject({
      ca: pemFile('authority').optional(),
      cert: pemFile('certificate').optional(),
      key: pemFile('key').optional(),
      servername: text.optional(),
    })
    .optional(),
  keyPrefix: z
    .string()
    .regex(/^[A-Za-z0-9._:-]+$/, 'must be letters, digits and any of . _ : -')
    .default('coursegate'),
  minReplicas: z.int().min(0).max(10).default(0),
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
