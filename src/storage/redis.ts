import type { Redis } from 'ioredis';
import { GatewayError } from '../errors.ts';
import { connectRedis } from './redis-connection.ts';
import { RedisDeadline } from './redis-deadline.ts';
import { COMMIT, FIND_BY, SWEEP } from './redis-scripts.ts';
import { type Clock, type Entry, REFERENCE_NAMES, type Store, unixSeconds } from './store.ts';

export interface RedisOptions {
  readonly url: string;
  /** Before every key, as its hash tag: several gates can share one Redis. */
  readonly keyPrefix: string;
}

type Field = string | null;

/** The scripts, as ioredis adds them to its client: by hash, and with their text when Redis does not know them (yet). */
interface Scripts {
  coursegateCommit(expiry: string, prefix: string, now: number, mutations: string, deadline: number): Promise<number>;
  coursegateFindBy(index: string, prefix: string, now: number, kind: string, limit: number): Promise<Field[][]>;
  coursegateSweep(expiry: string, prefix: string, now: number, limit: number): Promise<number>;
}

const FIELDS = ['payload', 'expiresAt', 'consumedAt', ...REFERENCE_NAMES];

/**
 * The store that several replicas share. Redis must keep what it is told: an append-only file, and no eviction.
 * A Redis that is gone or hangs is a GatewayError `store_unavailable` within a second, and is used again once it is back.
 */
export function redisStore({ url, keyPrefix }: RedisOptions, clock: Clock): Store {
  const connection = connectRedis(url);
  const { client, call, close } = connection;
  const deadline = new RedisDeadline(connection);
  client.defineCommand('coursegateCommit', { numberOfKeys: 1, lua: COMMIT });
  client.defineCommand('coursegateFindBy', { numberOfKeys: 1, lua: FIND_BY });
  client.defineCommand('coursegateSweep', { numberOfKeys: 1, lua: SWEEP });
  const run = <T>(script: (scripts: Scripts) => Promise<T>) => call((redis: Redis) => script(redis as Redis & Scripts));

  const prefix = `{${keyPrefix}}:`;
  const expiry = `${prefix}expiry`;
  const alive = (entry: Entry | undefined) =>
    entry === undefined || entry.expiresAt === undefined || entry.expiresAt > unixSeconds(clock) ? entry : undefined;

  return {
    async get(kind, id) {
      const fields = await call((redis) => redis.hmget(`${prefix}entry:${kind}:${id}`, ...FIELDS));
      return alive(toEntry(kind, id, fields));
    },
    async findBy(kind, name, value, limit = -1) {
      const index = `${prefix}index:${kind}:${name}:${value}`;
      const rows = await run((scripts) => scripts.coursegateFindBy(index, prefix, clock(), kind, limit));
      return rows.flatMap(([id, ...fields]) => toEntry(kind, String(id), fields) ?? []);
    },
    async commit(mutations) {
      if (mutations.length === 0) return true;
      const text = JSON.stringify(mutations);
      const until = await deadline.next();
      const outcome = await run((scripts) => scripts.coursegateCommit(expiry, prefix, clock(), text, until));
      if (outcome >= 0) return outcome === 1;
      deadline.forget();
      throw new GatewayError('store_unavailable', { cause: new Error('Redis took the commit up too late') });
    },
    sweep: (limit) => run((scripts) => scripts.coursegateSweep(expiry, prefix, clock(), limit)),
    async close() {
      close();
    },
  };
}

function toEntry(kind: string, id: string, fields: readonly Field[]): Entry | undefined {
  const [payload, expiresAt, consumedAt, ...references] = fields;
  if (typeof payload !== 'string') return undefined;
  return {
    kind,
    id,
    payload,
    expiresAt: expiresAt ? Number(expiresAt) : undefined,
    consumedAt: consumedAt ? Number(consumedAt) : undefined,
    references: Object.fromEntries(
      REFERENCE_NAMES.flatMap((name, at) => {
        const value = references[at];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    ),
  };
}
