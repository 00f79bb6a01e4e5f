import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { type ConnectionCaps, capConnections } from '../http/connection-caps.ts';
import { continueWhenRead } from '../http/expectation.ts';
import { lingerAfterEarlyAnswers } from '../http/linger.ts';
import { keepPace, type PaceOptions } from '../http/pace.ts';
import { probesHandler } from '../operations/probes.ts';
import type { Dispatch } from '../request/dispatch.ts';
import { drainOf } from './drain.ts';

interface Address {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port (SO_REUSEPORT). */
  readonly reusePort?: boolean;
}

/** PEM texts. */
interface AdminTls {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
}

export interface Listeners {
  readonly publicPort: number;
  readonly adminPort: number;
  /** New certificates for the admin one, if it speaks TLS. Throws what is wrong with them; then the old ones stay. */
  renewTls(tls: AdminTls): void;
  /** From now on each answer of the public one is the last of its connection. */
  announceDrain(): void;
  /** Takes no more requests, lets those in flight end for at most `seconds`, and resolves when all are gone. */
  drain(seconds: number): Promise<void>;
}

/** Seconds that an answer of the admin listener may still take when all others are given. */
const ADMIN_GRACE = 1;

/**
 * The listeners: the public one, the admin one beside it, and one for probes where the configuration asks for it.
 * Throws Node's error (EADDRINUSE, EACCES, with the port); then none listens.
 */
export async function openListeners(
  dispatch: Dispatch,
  publicAddress: Address &
    PaceOptions &
    ConnectionCaps & {
      /** Seconds a client may take for the head of a request. */
      readonly headTimeout: number;
      /** Bytes of a request's first line and fields: beyond them 431. */
      readonly longestHead: number;
    },
  admin: RequestListener,
  adminAddress: Address & {
    /** It speaks TLS then, and asks for a client certificate, which nobody must have. */
    readonly tls: AdminTls | undefined;
  },
  probesAddress: Address | undefined,
): Promise<Listeners> {
  const longestHead = Math.max(1, Math.round(publicAddress.headTimeout * 1000));
  const publicServer = createServer(
    {
      optimizeEmptyRequests: true,
      maxHeaderSize: publicAddress.longestHead,
      // Looked for by the dispatch, which also refuses what comes behind such a request.
      requireHostHeader: false,
      headersTimeout: longestHead,
      // Longer than the 60 s that balancers keep an idle connection: who closes first must not be the one that is asked.
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: Math.ceil(longestHead / 3),
      // Bodies may take their time as long as they come: see keepPace.
      requestTimeout: 0,
      // Other upgrades (h2c) are ignored, as RFC 9110 §7.8 allows: the request is answered as if it had not asked.
      shouldUpgradeCallback: ({ headers }) => /^websocket$/i.test(headers.upgrade ?? ''),
    },
    dispatch.request,
  );
  capConnections(publicServer, publicAddress);
  publicServer.on('upgrade', dispatch.upgrade);
  publicServer.on('connect', dispatch.connect);
  publicServer.on('clientError', dispatch.unreadable);
  continueWhenRead(publicServer);
  lingerAfterEarlyAnswers(publicServer);
  keepPace(publicServer, publicAddress);
  const adminServer =
    adminAddress.tls === undefined
      ? createServer(admin)
      : createTlsServer(
          {
            ...secureContext(adminAddress.tls),
            requestCert: true,
            // Whether there is a good one is asked where it matters: probes and metrics come without.
            rejectUnauthorized: false,
          },
          admin,
        );
  // Plain HTTP whatever the admin listener speaks: a kubelet and Prometheus bring no certificate.
  const probesServer = createServer(probesHandler(admin));
  const servers: readonly (readonly [Server, Address | undefined])[] = [
    [publicServer, publicAddress],
    [adminServer, adminAddress],
    [probesServer, probesAddress],
  ];
  const publicDrain = drainOf(publicServer);
  const otherDrains = [drainOf(adminServer), drainOf(probesServer)];

  try {
    for (const [server, address] of servers) if (address !== undefined) await listen(server, address);
  } catch (thrown) {
    for (const [server] of servers) server.close();
    throw thrown;
  }
  return {
    publicPort: (publicServer.address() as AddressInfo).port,
    adminPort: (adminServer.address() as AddressInfo).port,
    renewTls(tls) {
      if (adminServer instanceof TlsServer) adminServer.setSecureContext(secureContext(tls));
    },
    announceDrain: publicDrain.announce,
    async drain(seconds) {
      await publicDrain.finish(seconds);
      await Promise.all(otherDrains.map((drain) => drain.finish(Math.min(seconds, ADMIN_GRACE))));
    },
  };
}

function secureContext({ cert, key, clientCa }: AdminTls): SecureContextOptions {
  return { cert, key, ca: clientCa, minVersion: 'TLSv1.2' };
}

function listen(server: Server, { host, port, reusePort = false }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, reusePort }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
