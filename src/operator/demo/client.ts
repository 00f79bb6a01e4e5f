import { createServer } from 'node:http';
import { listen, shut } from '../../http/listen.ts';
import { gateOrigin } from '../connect/oauth/transport.ts';
import { studyBuddy } from './client/app.ts';

export interface ClientOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** The address to listen on. Default: localhost. */
  readonly host?: string;
  /** The gate's origin, such as http://localhost:8080. */
  readonly gate: string;
  /** The time in milliseconds. */
  readonly clock?: () => number;
}

/**
 * Starts Study Buddy, the demo's sample third-party app. Rejects with Node's error when the port is unavailable, and
 * with ConnectError when the gate is plain http on another machine.
 */
export async function startClient(options: ClientOptions): Promise<{ url: string; close(): Promise<void> }> {
  const gate = gateOrigin(options.gate);
  const server = createServer();
  const url = `http://localhost:${await listen(server, { port: options.port, host: options.host ?? 'localhost' })}`;
  server.on('request', studyBuddy(url, gate, options.clock ?? Date.now));
  return { url, close: () => shut(server) };
}
