import { type RedisServer, startRedis } from '../../../test/support/redis.ts';
import { startGate } from '../../support/gate.ts';
import { twin } from '../../support/turns.ts';
import type { Peer, PeerContext, Running } from './peer.ts';

export const COURSEGATE = 'coursegate';

/** The product with the access log in a file, and metrics. */
export function coursegate(routes = 10): Peer {
  return {
    name: routes === 10 ? COURSEGATE : `${COURSEGATE}, ${routes} routes`,
    start: (context) => start(context, routes),
  };
}

/** A second start of it. */
export const coursegateAgain: Peer = { ...coursegate(), name: twin(COURSEGATE), twinOf: COURSEGATE };

async function start({ folder, upstream, workers, processor }: PeerContext, routes: number): Promise<Running> {
  // The embedded store allows one process only. Two workers share a Redis, as two replicas would.
  const redis: RedisServer | undefined = workers === 2 ? await startRedis() : undefined;
  const filler = Array.from(
    { length: routes - 2 },
    (_, at) => `{ match: "GET /api/area-${at}/things/**", upstream: bench, scopes: [courses:read] }`,
  );
  const gate = await startGate({
    ...{ folder, profile: 'B', workers, processor, store: redis && { kind: 'redis', url: redis.url } },
    upstreams: {
      bench: `http://127.0.0.1:${upstream.port}`,
      streams: `http://127.0.0.1:${upstream.streamPort}`,
    },
    routes: [
      ...filler,
      '{ match: "GET /api/bench/stream", upstream: streams, scopes: [courses:read], anonymous: refuse }',
      '{ match: "GET /api/bench/**", upstream: bench, scopes: [courses:read], anonymous: refuse }',
    ],
  });
  return {
    port: gate.port,
    roots: [gate.pid],
    ...(gate.inspector === undefined ? {} : { inspector: gate.inspector }),
    tokens: gate.tokens,
    async stop() {
      await gate.stop();
      await redis?.close();
    },
  };
}
