import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Replica {
  /** The URL of its listener. */
  readonly listens: string;
  readonly admin: string;
}

export interface Balancer {
  readonly origin: string;
  /** The path and the replica of each request, in order. */
  readonly served: readonly { readonly path: string; readonly replica: number }[];
  /** Starts health checks and balancing for these replicas. Until then, every request gets 502. */
  serve(replicas: readonly Replica[]): void;
  /** Resolves when the balancer has seen replica `at` become ready (or not ready). */
  seen(at: number, ready: boolean): Promise<void>;
  close(): Promise<void>;
}

const LOOK_EVERY = 20;

/**
 * A minimal round-robin load balancer. It polls each replica's readiness, keeps connections alive, passes the Host on,
 * and retries on another replica only when the connection was refused.
 */
export async function startBalancer(): Promise<Balancer> {
  const served: { path: string; replica: number }[] = [];
  let replicas: (Replica & { agent: Agent; ready: boolean })[] = [];
  let next = 0;
  let closed = false;

  const pick = (not?: number): number | undefined => {
    for (let step = 0; step < replicas.length; step += 1) {
      const at = (next + step) % replicas.length;
      if (replicas[at]?.ready === true && at !== not) {
        next = at + 1;
        return at;
      }
    }
    return undefined;
  };

  const pass = (incoming: IncomingMessage, body: Buffer, response: ServerResponse, not?: number): void => {
    const at = pick(not);
    const replica = at === undefined ? undefined : replicas[at];
    if (at === undefined || replica === undefined) {
      response.writeHead(502).end('no replica is ready');
      return;
    }
    const { connection: _connection, ...headers } = incoming.headers;
    const outgoing = request(new URL(incoming.url ?? '/', replica.listens), {
      method: incoming.method ?? 'GET',
      headers: { ...headers, ...(body.length > 0 ? { 'content-length': body.length } : {}) },
      agent: replica.agent,
    });
    outgoing.on('response', (answer) => {
      served.push({ path: incoming.url ?? '', replica: at });
      const { connection: __, 'keep-alive': ___, ...fields } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, fields);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && not === undefined) pass(incoming, body, response, at);
      else if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`replica ${at}: ${error.code}`);
    });
    outgoing.end(body);
  };

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    pass(incoming, Buffer.concat(chunks), response);
  });
  const look = async () => {
    await Promise.all(
      replicas.map(async (replica) => {
        const answer = await fetch(`${replica.admin}/readyz`).catch(() => undefined);
        replica.ready = answer?.status === 200;
      }),
    );
    if (!closed) looking = setTimeout(look, LOOK_EVERY);
  };
  let looking = setTimeout(look, LOOK_EVERY);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    served,
    serve(given) {
      replicas = given.map(({ listens, admin }) => ({
        listens,
        admin,
        ready: false,
        agent: new Agent({ keepAlive: true }),
      }));
    },
    async seen(at, ready) {
      while (replicas[at]?.ready !== ready) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    },
    async close() {
      closed = true;
      clearTimeout(looking);
      for (const { agent } of replicas) agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
