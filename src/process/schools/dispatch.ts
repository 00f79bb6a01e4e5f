import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Decisions } from '../../decisions/decisions.ts';
import { isFileOf } from '../../decisions/fingerprint.ts';
import { hostAsked } from '../../decisions/original-request.ts';
import type { Generation } from '../../generation/generation.ts';
import { writeAnswer } from '../../http/answer.ts';
import { createConnections } from '../../http/connections.ts';
import { type RequestInFlight, requestOf } from '../../http/requests-in-flight.ts';
import type { Dispatch } from '../../request/dispatch.ts';
import { refuseConnect, refuseOn, refuseUnreadable } from '../../request/refuse-socket.ts';
import { parseTarget } from '../../upstream/target.ts';
import type { HostMap } from './hosts.ts';
import type { HostedSchool } from './school.ts';

/** The answers before a school is known. They are the same for every request, and say nothing of the schools. */
const PLAIN = { 'content-type': 'text/plain', 'cache-control': 'no-store' };
const MISDIRECTED = { status: 421, text: '421 Misdirected Request', headers: PLAIN };
const MOVED = { status: 308, text: '308 Permanent Redirect', headers: PLAIN };
const BAD_REQUEST = { status: 400, text: '400 Bad Request', headers: PLAIN };
/** For an idle school that could not be opened, which the next request tries again, and for one that has moved. */
const UNAVAILABLE = { status: 503, text: '503 Service Unavailable', headers: { ...PLAIN, 'retry-after': '30' } };

/**
 * Hands each request to the gate that Host names, opening it first if need be. It is Host alone: the gate's proxies pass
 * it on as they received it. A question of a gateway goes to the gate of the host that it is about, if the gateway's file
 * was written for that school: the gateway chose the file, and the backend in it, by rules of its own. `misdirected` is
 * called for each request to an unknown host.
 */
export function schoolsDispatch(
  hosts: HostMap<HostedSchool>,
  misdirected: () => void,
): Dispatch & { readonly question: Decisions } {
  const connections = createConnections();

  const gateAt = (
    found: ReturnType<typeof hosts.at>,
    request: IncomingMessage,
    one: RequestInFlight,
    use: (generation: Generation) => void,
    refuse: (answer: typeof MISDIRECTED, location?: string) => void,
  ): void => {
    if (found === undefined) {
      misdirected();
      refuse(MISDIRECTED);
      return;
    }
    const { school, origin, kind } = found;
    if (kind === 'redirect') {
      const target = parseTarget(request.url ?? '', origin);
      if (target === undefined) refuse(BAD_REQUEST);
      else refuse(MOVED, origin + target.path + target.query);
      return;
    }
    const serve = (gate: NonNullable<ReturnType<typeof school.openedAt>>): void => {
      gate.usedAt = performance.now();
      one.gate = gate.mark;
      use(gate.generations.current());
    };
    const opened = school.openedAt(origin);
    if (opened !== undefined) {
      serve(opened);
      return;
    }
    school.openAt(origin).then(
      (gate) => {
        // Its end steps have run: what is counted for it now is never undone.
        if (!one.over) serve(gate);
      },
      () => refuse(UNAVAILABLE),
    );
  };

  return {
    request(request: IncomingMessage, response: ServerResponse): void {
      const refuse = ({ status, text, headers }: typeof MISDIRECTED, location?: string): void => {
        response.shouldKeepAlive = false;
        response
          .writeHead(status, {
            ...headers,
            connection: 'close',
            ...(location !== undefined && { location }),
          })
          .end(`${text}\n`);
      };
      const found = hosts.at(request.headers.host);
      gateAt(found, request, requestOf(response), ({ dispatch }) => dispatch.request(request, response), refuse);
    },
    question(request, response, family): void {
      const found = hosts.at(hostAsked(family, request));
      const isItsOwn = found?.kind === 'serve' && isFileOf(found.school.hosts[0]?.host, request.rawHeaders);
      gateAt(
        isItsOwn ? found : undefined,
        request,
        requestOf(response),
        ({ decisions }) => decisions?.(request, response, family),
        ({ status, text, headers }) => writeAnswer(response, { status, headers, body: `${text}\n` }),
      );
    },
    upgrade(one: RequestInFlight, socket: Duplex, head: Buffer): void {
      // Until a gate has it, a reset of the connection would end the process.
      socket.on('error', () => socket.destroy());
      gateAt(
        hosts.at(one.request.headers.host),
        one.request,
        one,
        ({ dispatch }) => dispatch.upgrade(one, socket, head),
        ({ text }) => refuseOn(socket, text),
      );
    },
    connect: (request: IncomingMessage, socket: Duplex) => refuseConnect(connections, request, socket),
    unreadable: (error: NodeJS.ErrnoException, socket: Duplex) => refuseUnreadable(connections, error, socket),
  };
}
