import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { readOnAfterFailedWrite } from './connector.ts';

export interface SiteAgentOptions {
  readonly url: URL;
  /** The TLS server name (SNI) of an https upstream; '' for the host it connects to. */
  readonly servername: string;
  /** Milliseconds for name resolution, TCP and TLS together. */
  readonly connectTimeout: number;
}

/**
 * The connections of the site lane. Their number is limited by admission (admission.ts), not by the agent: node:http's
 * own agent would queue requests beyond its socket limit, without a bound. Connecting has a deadline (`ETIMEDOUT`), and
 * a response that an upstream sends before it hangs up is read, as on the protected lane.
 */
export function createSiteAgent({ url, servername, connectTimeout }: SiteAgentOptions): http.Agent {
  const secure = url.protocol === 'https:';
  const agent = new (secure ? https : http).Agent({
    keepAlive: true,
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: 256,
    ...(servername === '' ? {} : { servername }),
  });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback) as Socket | null | undefined;
    if (socket) {
      const late = () => socket.destroy(Object.assign(new Error('Not connected in time.'), { code: 'ETIMEDOUT' }));
      const deadline = setTimeout(late, connectTimeout);
      const settled = () => clearTimeout(deadline);
      socket.once(secure ? 'secureConnect' : 'connect', settled).once('close', settled);
      readOnAfterFailedWrite(socket);
    }
    return socket as Duplex | null | undefined;
  };
  return agent;
}
