import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { generateKeyPair } from 'jose';
import type { UpstreamConfig } from '../../src/config/schema.ts';
import { asGatewayError, type GatewayError, renderFailure } from '../../src/errors.ts';
import { writeAnswer } from '../../src/http/answer.ts';
import { continueWhenRead } from '../../src/http/expectation.ts';
import { lingerAfterEarlyAnswers } from '../../src/http/linger.ts';
import { assertClearMessage } from '../../src/http/message.ts';
import { keepPace, type PaceOptions } from '../../src/http/pace.ts';
import { createProvenance } from '../../src/http/provenance.ts';
import { RequestRecord } from '../../src/http/request-record.ts';
import { ANONYMOUS, type MemberPrincipal, type Principal } from '../../src/oauth/principal.ts';
import { type BodyLimits, UNLIMITED } from '../../src/upstream/body-limit.ts';
import { createForward } from '../../src/upstream/forward.ts';
import { createIdentity } from '../../src/upstream/identity.ts';
import { createPools, type Upstream } from '../../src/upstream/pools.ts';
import type { Rewrite } from '../../src/upstream/rewrite.ts';
import { createRouting } from '../../src/upstream/routing.ts';
import { createSite } from '../../src/upstream/site.ts';
import { parseTarget } from '../../src/upstream/target.ts';
import { upstreamConfig } from '../support/upstream-config.ts';

export const MEMBER: MemberPrincipal = {
  kind: 'member',
  sub: 'm-1',
  details: { email: 'student@example.com', name: 'Renée, A.' },
  scope: new Set(['courses:read', 'orders:read']),
  clientId: 'client-1',
  grantId: 'grant-1',
};

let client: UpstreamConfig['client'] = 'http1';

/** Sets the client of the gates that are started from now on. */
export function useClient(name: UpstreamConfig['client']): void {
  client = name;
}

const ORIGIN = 'http://gate.test';

/** The modules of src/upstream behind a real server, with as little else as possible. */
export interface TestGate {
  readonly url: string;
  readonly port: number;
  /** The errors that handlers threw, in order. */
  readonly failures: readonly GatewayError[];
  /** Sends bytes on their own socket. Resolves with everything received until the gate closed the connection. */
  raw(bytes: string): Promise<string>;
  /** Opens a connection for the caller to use. */
  socket(): Socket;
  /** The gate's upstream object. */
  readonly upstream: Upstream;
  close(): Promise<void>;
}

/**
 * Starts a gate: `/api/**` and `/open/**` are protected (the first for MEMBER, the second anonymous), the rest is the
 * site's. `timeout` is in seconds.
 */
export async function startGate(
  upstreamUrl: string,
  options: {
    timeout?: number;
    trustedProxies?: string[];
    limits?: BodyLimits;
    /** The rewrite of `/api/**`. */
    rewrite?: Rewrite;
    /** How slow clients may be. */
    pace?: PaceOptions;
    /** Further settings of the upstream. */
    upstream?: Partial<UpstreamConfig>;
    /** Monotonic milliseconds. */
    now?: () => number;
    origin?: string;
  } = {},
): Promise<TestGate> {
  const { timeout = 10, origin = ORIGIN } = options;
  const { privateKey } = await generateKeyPair('ES256');
  const upstreams = { school: upstreamConfig(upstreamUrl, { timeout, client, ...options.upstream }) };
  const pools = createPools(upstreams, options.now);
  const identity = createIdentity({
    issuer: origin,
    signingKey: async () => ({ kid: 'k1', key: privateKey }),
    clock: Date.now,
  });
  const forward = createForward({ upstreams, pools, identity, origin });
  const site = createSite({ upstreams, pools, origin }, 'school');
  const routing = createRouting<Principal>([
    { methods: undefined, pattern: '/api/**', value: MEMBER },
    { methods: undefined, pattern: '/open/**', value: ANONYMOUS },
  ]);
  const failures: GatewayError[] = [];
  const provenanceOf = createProvenance({ trustedProxies: options.trustedProxies ?? [] });

  const server = createServer(async (request, response) => {
    try {
      assertClearMessage(request);
      const target = parseTarget(request.url ?? '', origin);
      const found = target === undefined ? undefined : routing(request.method ?? '', target.path);
      if (target === undefined || found === undefined || found.kind === 'claimed')
        response.writeHead(400).end('refused');
      else if (found.kind === 'route') {
        const provenance = provenanceOf(request);
        const record = new RequestRecord(provenance, 'GET', target.path);
        const exchange = { request, response, target, principal: found.route.value, provenance, record, ownFields: [] };
        await forward(exchange, 'school', options.limits ?? UNLIMITED, options.rewrite);
      } else
        await site.handle(request, response, target, new RequestRecord(provenanceOf(request), 'GET', target.path), []);
    } catch (thrown) {
      const failure = asGatewayError(thrown);
      failures.push(failure);
      writeAnswer(response, renderFailure(failure, 'problem', 'request-1'));
    }
  });
  continueWhenRead(server);
  lingerAfterEarlyAnswers(server);
  keepPace(server, options.pace ?? { stall: 60, uploadRate: 256 });
  server.on('upgrade', (request, socket, head) => {
    const target = parseTarget(request.url ?? '', origin);
    if (target === undefined || routing('GET', target.path).kind !== 'none') socket.destroy();
    else {
      const record = new RequestRecord(provenanceOf(request), 'GET', target.path);
      site.upgrade(request, socket, head, target, record, () => undefined);
    }
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    failures,
    raw: (bytes) => exchange(port, bytes),
    socket: () => connect(port, '127.0.0.1'),
    upstream: pools.get('school'),
    async close() {
      site.close();
      await pools.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', () => resolve(received));
    socket.on('close', () => resolve(received));
  });
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
