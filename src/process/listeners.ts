import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { LoadedConfig } from '../config/load.ts';
import type { Decisions } from '../decisions/decisions.ts';
import { capConnections } from '../http/connection-caps.ts';
import { continueWhenRead } from '../http/expectation.ts';
import { lingerAfterEarlyAnswers } from '../http/linger.ts';
import { listen as listenOnPort } from '../http/listen.ts';
import { keepPace } from '../http/pace.ts';
import type { RequestsInFlight } from '../http/requests-in-flight.ts';
import type { Log } from '../operations/log.ts';
import type { Dispatch } from '../request/dispatch.ts';
import type { connectionBounds } from './descriptors.ts';
import { drainOf } from './drain.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port (SO_REUSEPORT). */
  readonly reusePort?: boolean;
}

interface UnixSocket {
  readonly path: string;
}

/** In PEM format. */
export interface AdminTls {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
}

/** What the listeners hand on. */
export interface ListenerHandlers {
  /** Of the generation that is current when a request arrives: it handles the request until its end. */
  readonly dispatch: () => Dispatch;
  readonly admin: RequestListener;
  /** Called only if gateways may ask: `listen` changes only with a restart. */
  readonly decisions: Decisions;
}

export type Listeners = Awaited<ReturnType<typeof openListeners>>;

/** Extra seconds for responses of the admin listener after the public one has been drained. */
const ADMIN_GRACE = 1;

/**
 * Opens the public listener, the admin listener and, if configured, the one for probes. Rejects with Node's error
 * (EADDRINUSE, EACCES, with the port) if one cannot listen; then none is left open.
 */
export async function openListeners(
  { config: { listen: settings, limits }, admin: { mtls }, secrets }: LoadedConfig,
  {
    inFlight,
    bounds,
    ...of
  }: {
    readonly inFlight: RequestsInFlight;
    readonly bounds: ReturnType<typeof connectionBounds>;
    readonly log: Log;
    readonly clock: () => number;
  },
  { dispatch, admin, decisions }: ListenerHandlers,
) {
  const headTimeout = Math.max(1, Math.round(settings.headTimeout * 1000));
  const publicServer = createServer(
    {
      optimizeEmptyRequests: true,
      maxHeaderSize: limits.headers,
      // Checked when a request is admitted, which also refuses whatever follows a bad one on its connection.
      requireHostHeader: false,
      headersTimeout: headTimeout,
      // Longer than the 60 s for which load balancers keep idle connections, so that the gate does not close a
      // connection on which a request is being sent.
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: Math.ceil(headTimeout / 3),
      // Request bodies have no total limit as long as data keeps coming: see keepPace.
      requestTimeout: 0,
      // Other upgrades (h2c) are ignored, as RFC 9110 section 7.8 allows: the request is answered as if it had not
      // asked for one.
      shouldUpgradeCallback: ({ headers }) => /^websocket$/i.test(headers.upgrade ?? ''),
    },
    (request, response) => dispatch().request(request, response),
  );
  capConnections(publicServer, {
    trustedProxies: settings.trustedProxies,
    maxConnections: bounds.public,
    // The same share as configured, of a bound that may be lower.
    maxConnectionsPerAddress: Math.ceil((settings.maxConnectionsPerAddress * bounds.public) / settings.maxConnections),
  });
  publicServer.on('upgrade', (request, socket, head) => {
    const begun = inFlight.beginUpgrade(publicServer, request, socket);
    if (begun !== undefined) dispatch().upgrade(begun, socket, head);
  });
  publicServer.on('connect', (request, socket) => {
    if (!inFlight.endWaiting(socket) && !socket.destroyed) dispatch().connect(request, socket);
  });
  publicServer.on('clientError', (error, socket) => dispatch().unreadable(error, socket));
  continueWhenRead(publicServer);
  lingerAfterEarlyAnswers(publicServer);
  keepPace(publicServer, settings);
  const adminServer =
    mtls === undefined
      ? createServer(admin)
      : createTlsServer(
          {
            ...secureContext(mtls),
            // Optional for the client.
            requestCert: true,
            // Certificates are verified where they are required. Probes and metrics are requested without one.
            rejectUnauthorized: false,
          },
          admin,
        );
  const servers: [Server, Address | UnixSocket][] = [
    [publicServer, settings],
    [adminServer, settings.admin],
  ];
  if (settings.probes !== undefined) {
    const { probesApp } = await import('../operations/admin.ts');
    // Always plain HTTP, because a kubelet and Prometheus have no client certificate.
    servers.push([createServer(probesApp(admin)), settings.probes]);
  }
  if (settings.decisions !== undefined) {
    const { DecisionResponse: Response } = await import('../decisions/decision-response.ts');
    const { createQuestions } = await import('../decisions/questions.ts');
    // Gateways take longer heads than the public listener. A 431 would close a connection that they use for others.
    const options = {
      ...{ ServerResponse: Response, optimizeEmptyRequests: true },
      ...{ maxHeaderSize: 4 * limits.headers, keepAliveTimeout: 75_000 },
    };
    const secret = secrets.get('listen.decisions.secret');
    const server = createServer(options, createQuestions({ ...of, secret }, decisions));
    servers.push([server as Server, settings.decisions.address]);
  }
  // Beyond these, node:net closes a connection as soon as it has accepted it.
  for (const [server, address] of servers.slice(1))
    server.maxConnections = address === settings.decisions?.address ? bounds.decisions : bounds.admin;
  for (const [server] of servers) {
    server.prependListener('request', (request, response) => inFlight.begin(server, request, response));
    // Node answers in the same way without this, but then the request would not count as in flight, and an upgrade behind
    // it on its connection would be answered before it is.
    server.on('checkExpectation', (request, response) => {
      inFlight.begin(server, request, response);
      response.writeHead(417).end();
    });
    if (server !== publicServer)
      server.on('connect', (_request, socket) => inFlight.endWaiting(socket) || socket.destroy());
  }
  const publicDrain = drainOf(publicServer, inFlight);
  const otherDrains = servers.slice(1).map(([server]) => drainOf(server, inFlight));

  try {
    for (const [server, address] of servers) await listen(server, address);
  } catch (thrown) {
    for (const [server] of servers) server.close();
    throw thrown;
  }
  return {
    publicPort: (publicServer.address() as AddressInfo).port,
    adminPort: (adminServer.address() as AddressInfo).port,
    /**
     * Replaces the certificates of the admin listener, if it uses TLS. Throws if they are invalid; the old ones then
     * stay in use.
     */
    renewTls(tls: AdminTls): void {
      if (adminServer instanceof TlsServer) adminServer.setSecureContext(secureContext(tls));
    },
    /** From now on, each response of the public listener is the last on its connection. */
    announceDrain: publicDrain.announce,
    /**
     * Stops taking requests, lets those in flight finish for up to `seconds`, and resolves when all connections are
     * closed.
     */
    async drain(seconds: number): Promise<void> {
      await publicDrain.finish(seconds);
      const grace = Math.min(seconds, ADMIN_GRACE);
      await Promise.all(otherDrains.map((drain) => drain.finish(grace)));
    },
  };
}

export function secureContext({ cert, key, clientCa }: AdminTls): SecureContextOptions {
  return { cert, key, ca: clientCa, minVersion: 'TLSv1.2' };
}

export async function listen(server: Server, address: Address | UnixSocket): Promise<void> {
  if ('path' in address) {
    const { listenOnSocket } = await import('./unix-socket.ts');
    return listenOnSocket(server, address.path);
  }
  const { host, port, reusePort = false } = address;
  await listenOnPort(server, { port, host, reusePort });
}
