import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { writeAnswer } from '../http/answer.ts';
import { type Address, type AdminTls, listen, secureContext } from './listeners.ts';

/**
 * Answers probes at the admin and probes listeners' addresses before the gate is built: `/livez` with 200, everything
 * else with 503. Returns how to stop, which frees the addresses. Rejects like openListeners.
 */
export async function answerEarly(
  admin: Address & { readonly tls: AdminTls | undefined },
  probes: Address | undefined,
): Promise<() => Promise<void>> {
  const tls = admin.tls && secureContext(admin.tls);
  const servers: [Server, Address][] = [
    [tls === undefined ? createServer(answer) : createTlsServer(tls, answer), admin],
  ];
  if (probes !== undefined) servers.push([createServer(answer), probes]);
  const stop = async () => {
    for (const [server] of servers) server.closeAllConnections();
    await Promise.all(servers.map(([server]) => new Promise((resolve) => server.close(resolve))));
  };
  try {
    for (const [server, address] of servers) await listen(server, address);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return stop;
}

const answer: RequestListener = ({ url = '' }, response) => {
  const live = /^\/livez(\?|$)/.test(url);
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' };
  const body = live ? 'ok\n' : 'waiting for the store\n';
  writeAnswer(response, { status: live ? 200 : 503, headers, body });
};
