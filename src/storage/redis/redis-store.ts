import { Cluster, type Redis } from 'ioredis';
import { limitsOf, quotaFull } from '../quota.ts';
import {
  type Clock,
  isAlive,
  type RawMutation,
  type RawStore,
  REFERENCE_NAMES,
  type StoredEntry,
  unixSeconds,
} from '../store.ts';
import { entryOf, REFERENCE_COLUMNS } from '../table.ts';
import { connectRedis } from './connection.ts';
import { RedisDeadline } from './deadline.ts';
import { redisMemory } from './memory.ts';
import { SCRIPTS } from './scripts.ts';
import { createRedisClient, type RedisClient, type RedisTarget } from './target.ts';

export interface RedisOptions extends RedisTarget {
  /** The prefix of every key, as its hash tag. It allows several gates to share one Redis. */
  readonly keyPrefix: string;
  /** How many replicas must have received a commit before it is acknowledged (WAIT). Default: none. */
  readonly minReplicas?: number;
}

type Field = string | null;

/** The scripts, as methods of the client. */
interface Scripts extends Record<keyof typeof SCRIPTS, unknown> {
  coursegateCommit(...given: (string | number)[]): Promise<number>;
  coursegateFindBy(index: string, prefix: string, now: number, kind: string, limit: number): Promise<Field[][]>;
  coursegateSweep(expiry: string, prefix: string, now: number, limit: number): Promise<number>;
  coursegateTime(expiry: string): Promise<(string | number)[]>;
}

/** Milliseconds reserved for the response to a WAIT to arrive. */
const ANSWERED = 50;

const FIELDS = ['payload', 'expiresAt', 'consumedAt', 'revision', ...REFERENCE_NAMES];
const CHARGE = ['quota', 'network', 'wider', 'client', 'age'];
/** The names in a row of what a script or HMGET returns. */
const COLUMNS = ['payload', 'expires_at', 'consumed_at', 'revision', ...REFERENCE_COLUMNS, ...CHARGE];

/**
 * The store that several replicas share. Redis must be durable: an append-only file and no eviction. While Redis is
 * down or hangs, calls throw GatewayError `store_unavailable` within a second; it is used again once it is back.
 */
export function redisStore(options: RedisOptions, clock: Clock): RawStore {
  const { keyPrefix, minReplicas = 0 } = options;
  const connection = connectRedis(createRedisClient(options));
  // A WAIT blocks later commands on its connection, so reads then use a separate one.
  const writing = minReplicas > 0 ? connectRedis(createRedisClient(options)) : connection;
  const deadline = new RedisDeadline();
  const memory = redisMemory();
  writing.client.on('ready', () => deadline.forget());
  for (const { client } of new Set([connection, writing])) defineScripts(client);

  const prefix = `{${keyPrefix}}:`;
  const expiry = `${prefix}expiry`;

  return {
    async get(kind, id) {
      const fields = await connection.call((redis) => redis.hmget(`${prefix}entry:${kind}:${id}`, ...FIELDS));
      return toEntry(kind, id, fields, unixSeconds(clock));
    },
    async findBy(kind, name, value, limit = -1) {
      const index = `${prefix}index:${kind}:${name}:${value}`;
      const rows = await connection.call((redis) =>
        scriptsOf(redis).coursegateFindBy(index, prefix, clock(), kind, limit),
      );
      return rows.flatMap(([id, ...fields]) => toEntry(kind, String(id), fields, unixSeconds(clock)) ?? []);
    },
    count: (kind, name, value) =>
      connection.call((redis) =>
        redis.zcount(`${prefix}index:${kind}:${name}:${value}`, `(${unixSeconds(clock)}`, '+inf'),
      ),
    async scan(kinds, from, limit) {
      return connection.call(async (redis) => {
        // The scan covers every key of the one node that has our keys.
        const node = await primaryOf(redis, expiry);
        if (node === undefined) throw new Error('no node of the Cluster is known to hold our keys');
        const pattern = `${literal(`${prefix}entry:`)}${kinds?.length === 1 ? `${kinds[0]}:` : ''}*`;
        const [next, keys] = await node.scan(from ?? '0', 'MATCH', pattern, 'COUNT', limit);
        const total = from === undefined ? await node.dbsize() : undefined;
        const found = keys
          .map((key) => /^([^:]*):(.*)$/s.exec(key.slice(`${prefix}entry:`.length)) ?? [])
          .filter(([, of = '']) => kinds?.includes(of) !== false);
        const read = node.pipeline();
        for (const [name] of found) {
          read.hmget(`${prefix}entry:${name}`, ...FIELDS);
          read.hmget(`${prefix}charge:${name}`, ...CHARGE);
        }
        const answers = ((await read.exec()) ?? []).map(([failure, fields]) => {
          if (failure) throw failure;
          return fields as Field[];
        });
        const now = unixSeconds(clock);
        const entries = found.flatMap(
          ([, of = '', id = ''], at) => toEntry(of, id, answers.slice(2 * at, 2 * at + 2).flat(), now) ?? [],
        );
        return { entries, next: next === '0' ? undefined : next, looked: limit, total };
      });
    },
    async commit(mutations, priority = 'ordinary') {
      if (mutations.length === 0 && minReplicas === 0) return true;
      const charged = mutations.some((mutation) => 'entry' in mutation && mutation.entry.charge !== undefined);
      const text = JSON.stringify(mutations.map(withLimits));
      const outcome = await writing.call(async (redis, left) => {
        const scripts = scriptsOf(redis);
        await memory.assertRoom(() => primaryOf(redis, expiry), charged ? 'stranger' : priority);
        const until = await deadline.next(() => scripts.coursegateTime(expiry), left);
        const outcome = await scripts.coursegateCommit(expiry, prefix, clock(), text, until, minReplicas);
        if (outcome === -1) {
          deadline.forget();
          throw new Error('Redis started the commit after its deadline');
        }
        if (outcome === 1 && minReplicas > 0) await replicated(redis, expiry, minReplicas, left());
        return outcome;
      });
      if (outcome === -2) throw quotaFull();
      return outcome === 1;
    },
    sweep: (limit) => writing.call((redis) => scriptsOf(redis).coursegateSweep(expiry, prefix, clock(), limit)),
    // Redis frees the memory of deleted keys itself.
    compact: async () => 0,
    async close() {
      connection.close();
      writing.close();
    },
  };
}

function defineScripts(client: RedisClient): void {
  for (const [name, lua] of Object.entries(SCRIPTS)) client.defineCommand(name, { numberOfKeys: 1, lua });
}

/** The script is told the limits of a charge. */
function withLimits(mutation: RawMutation) {
  if (!('entry' in mutation)) return mutation;
  const { entry } = mutation;
  if (entry.charge === undefined) return mutation;
  return { ...mutation, entry: { ...entry, charge: { ...entry.charge, limits: limitsOf(entry.charge) } } };
}

const scriptsOf = (client: RedisClient) => client as RedisClient & Scripts;

/**
 * Waits until `wanted` replicas have what this connection has just written. It must run directly after the write and on
 * the same connection: on a new one WAIT would return immediately. Throws if fewer replicas have it in time. The commit
 * is written then, but may be lost if the primary fails.
 */
async function replicated(client: RedisClient, key: string, wanted: number, left: number): Promise<void> {
  const node = await primaryOf(client, key);
  const got = (await node?.wait(wanted, Math.max(1, Math.floor(left) - ANSWERED))) ?? 0;
  if (got < wanted) throw new Error(`${got} of ${wanted} replicas have the commit`);
}

/** The connection to the node that has a key; undefined if the Cluster knows of none. */
async function primaryOf(client: RedisClient, key: string): Promise<Redis | undefined> {
  return client instanceof Cluster ? ownerOf(client, await client.cluster('KEYSLOT', key)) : client;
}

/** The connection to the primary of a slot, according to the last response for that slot. */
function ownerOf(cluster: Cluster, slot: number) {
  const owner = cluster.slots[slot]?.[0];
  return cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === owner);
}

/** Escapes a text for use in a Redis glob pattern. */
function literal(text: string): string {
  return text.replace(/[*?[\]^\\-]/g, '\\$&');
}

/** The entry in these fields, unless it is absent or expired. */
function toEntry(kind: string, id: string, fields: readonly Field[], now: number): StoredEntry | undefined {
  if (typeof fields[0] !== 'string') return undefined;
  const row = Object.fromEntries(COLUMNS.map((column, at) => [column, fields[at] ?? null]));
  const entry = entryOf({ ...row, kind, id, expires_at: row.expires_at || null, revision: row.revision ?? 1 });
  return isAlive(entry, now) ? entry : undefined;
}
