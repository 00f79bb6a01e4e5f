import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { shut } from '../http/listen.ts';
import { type Address, type AdminTls, listen, secureContext } from './listeners.ts';

const answer: RequestListener = ({ url = '' }, response) => {
  const live = /^\/livez(\?|$)/.test(url);
  response.writeHead(live ? 200 : 503, {
    'content-type': 'text/plain',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(live ? 'ok\n' : 'waiting for the store\n');
};

/**
 * Answers probes at the addresses of the admin and probes listeners before the gate is built: `/livez` with 200,
 * everything else with 503. Returns how to stop, which frees the addresses. Rejects like openListeners.
 */
export async function answerEarly(
  admin: Address & { readonly tls: AdminTls | undefined },
  probes: Address | undefined,
): Promise<() => Promise<void>> {
  const first = admin.tls === undefined ? createServer(answer) : createTlsServer(secureContext(admin.tls), answer);
  const servers = new Map<Server, Address>([[first, admin]]);
  if (probes !== undefined) servers.set(createServer(answer), probes);
  for (const [server, address] of servers) await listen(server, address);
  return async () => {
    await Promise.all([...servers.keys()].map(shut));
  };
}
