import type { Server } from '../../../src/operator/setup/names.ts';

/** A gateway that operators run, as the tests start it: with the file that `coursegate snippets --for NAME` prints. */
export interface GatewayKind {
  /** The name in the titles of tests. */
  readonly name: string;
  /** The name in `snippets --for`. */
  readonly server: Server;
  /** How to install it. */
  readonly install: string;
  /** Whether CI runs without it. */
  readonly optional?: true;
  /** The program; undefined if it is not installed. */
  readonly program: () => string | undefined;
  /** Whether its upstreams have `identity: [assertion]`, because it cannot keep clients from sending plain fields. */
  readonly assertionOnly?: true;
  /** Whether it can ask over a Unix socket. */
  readonly unixSockets: boolean;
  /** The name of the gate's host in its file, if it cannot be an address. */
  readonly gateHost?: string;
  /** Whether it resolves empty and dot segments before it does anything else with a path. */
  readonly cleansPaths?: true;
  /** Whether clients get its own 503 in place of the gate's, which has the trace too. */
  readonly writesUnavailable?: true;
  /** Starts it, and resolves when it takes requests. Rejects, with what the gateway has said, if it refuses its file. */
  readonly start: (options: GatewayStart) => Promise<RunningGateway>;
}

export interface GatewayStart {
  /** The port of the public origin, http://localhost:PORT. */
  readonly port: number;
  /** What `coursegate snippets` has printed. */
  readonly snippet: string;
  /** The backend of the rest of the site, as http://127.0.0.1:PORT. */
  readonly site: string;
  /** A new folder for its files. */
  readonly folder: string;
}

export interface RunningGateway {
  close(): Promise<void>;
}
