import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import { socketHost } from '../http/host.ts';
import type { Provenance } from '../http/provenance.ts';
import { cutOff } from './answer-stream.ts';
import { upstreamFailure } from './failures.ts';
import { asksForWebSocket } from './framing.ts';
import type { HeaderPolicy } from './header-policy.ts';
import { requestHeaders, responseHead } from './headers.ts';
import type { Upstream } from './pools.ts';
import { answerOn } from './socket-answer.ts';
import type { Target } from './target.ts';

/** A request for a WebSocket, on a socket that node:http has handed over. */
interface Opening {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** The first bytes after the request. */
  readonly head: Buffer;
  readonly target: Target;
  readonly provenance: Provenance;
  /** Called once with the status that was sent: 101 if the tunnel is open. */
  readonly report: (status: number) => void;
}

/** Milliseconds that the other end has to close its side of a tunnel. */
const HANG_UP = 500;
/** Milliseconds of silence after which TCP keep-alive probes an end of a tunnel. */
const PROBE = 30_000;

/**
 * WebSocket tunnels (RFC 6455) to the legacy site, on node:http. The same header policy applies as for any request,
 * bytes flow only after a 101, and a response that is not an upgrade is passed on as an ordinary response.
 * @param idle milliseconds without data from either end after which a tunnel is closed
 */
export function createTunnels(upstream: Upstream, policy: HeaderPolicy, idle: number) {
  const open = new Set<Duplex>();
  return {
    open(opening: Opening): void {
      const { request, socket } = opening;
      // Without a listener, a client that resets its connection would end the process.
      socket.on('error', () => socket.destroy());
      hold(open, socket);
      try {
        refuseOddities(request, policy.origin);
        handshake(opening);
      } catch (thrown) {
        refuse(opening, thrown);
      }
    },
    /** Closes each tunnel gracefully, at both ends. */
    hangUp: () => part(open),
    close(): void {
      for (const socket of open) socket.destroy();
    },
  };

  function handshake(opening: Opening): void {
    const { request, socket, target, provenance } = opening;
    const { servername } = policy;
    const { request: send } = upstream.url.protocol === 'https:' ? https : http;
    const outgoing = send({
      hostname: socketHost(upstream.url.hostname),
      port: upstream.url.port,
      path: upstream.pathOf(target),
      agent: false,
      ...(servername === '' ? {} : { servername }),
      headers: [
        ...requestHeaders(request.rawHeaders, provenance, policy),
        'Connection',
        'Upgrade',
        'Upgrade',
        'websocket',
      ],
    });
    const late = setTimeout(() => outgoing.destroy(new GatewayError('upstream_timeout')), upstream.timeouts.head);
    let answered = false;
    const onClientClose = () => outgoing.destroy();
    socket.once('close', onClientClose);

    outgoing.on('upgrade', (answer, other, otherHead) => {
      answered = true;
      clearTimeout(late);
      socket.off('close', onClientClose);
      hold(open, other);
      join(opening, answer, other, otherHead);
    });
    outgoing.on('response', (answer) => {
      answered = true;
      clearTimeout(late);
      passOn(opening, answer, policy);
    });
    outgoing.on('error', (error) => {
      clearTimeout(late);
      if (answered) socket.destroy();
      else refuse(opening, error);
      answered = true;
    });
    outgoing.setNoDelay(true);
    outgoing.end();
  }

  /** Both ends now speak WebSocket: the bytes are passed on unread, and when one end closes the other is closed too. */
  function join({ socket, head, report }: Opening, answer: IncomingMessage, other: Duplex, otherHead: Buffer): void {
    other.on('error', () => other.destroy());
    socket.once('close', () => other.destroy());
    other.once('close', () => socket.destroy());
    if (socket.destroyed || answer.headers.upgrade?.toLowerCase() !== 'websocket') {
      other.destroy();
      return;
    }
    try {
      socket.write(switching(answer, policy), 'latin1');
    } catch {
      // The 101 contains a value that no field may have. The handshake was already accepted, so no error can be sent.
      other.destroy();
      return;
    }
    report(101);
    if (otherHead.length > 0) socket.write(otherHead);
    if (head.length > 0) other.write(head);
    endWhenIdle(socket, other, idle);
    socket.pipe(other).pipe(socket);
  }
}

function passOn({ request, socket, report }: Opening, answer: IncomingMessage, policy: HeaderPolicy): void {
  const response = answerOn(request, socket);
  socket.once('close', () => answer.destroy());
  answer.on('error', () => cutOff(response));
  try {
    const { status, fields } = responseHead(answer.statusCode ?? 0, answer.rawHeaders, policy, false);
    response.writeHead(status, fields);
    report(status);
    answer.pipe(response);
  } catch (thrown) {
    answer.destroy();
    writeFailure(response, thrown, report);
  }
}

function refuse({ request, socket, report }: Opening, thrown: unknown): void {
  if (!socket.destroyed) writeFailure(answerOn(request, socket), thrown, report);
}

function writeFailure(response: http.ServerResponse, thrown: unknown, report: Opening['report']): void {
  const failure = upstreamFailure(thrown);
  report(failure.status);
  writeAnswer(response, renderFailure(failure, 'problem', randomUUID()));
}

/**
 * Accepts only a GET of HTTP/1.1 or later, for a WebSocket and nothing else, without a body (RFC 6455 section 4.1).
 * Browsers have no same-origin policy for WebSockets: another site's page could open one with the member's cookies, so
 * Origin is checked (section 10.2).
 */
function refuseOddities(request: IncomingMessage, origin: string): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const plain = request.method === 'GET' && request.httpVersionMinor >= 1 && length === '0' && coding === undefined;
  if (!plain || !asksForWebSocket(request))
    throw new GatewayError('invalid_request', { message: 'Only a WebSocket can be opened this way.' });
  if (request.headers.origin !== undefined && request.headers.origin !== origin) throw new GatewayError('forbidden');
}

/** RFC 9110 section 15.2.2. The policy covers only final statuses, so the fields are treated as those of a 200. */
function switching(answer: IncomingMessage, policy: HeaderPolicy): string {
  const { fields } = responseHead(200, answer.rawHeaders, policy, false);
  let head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  for (let at = 0; at + 1 < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${head}\r\n`;
}

/**
 * Closes a tunnel when no data arrives from either end. Only received bytes count: bytes sent to a client that vanished
 * are soon no longer read, and prove nothing. TCP keep-alive probes silent ends.
 */
function endWhenIdle(socket: Duplex, upstream: Duplex, milliseconds: number): void {
  const idle = setTimeout(() => part([socket, upstream]), milliseconds);
  for (const end of [socket, upstream]) {
    if (end instanceof Socket) end.setKeepAlive(true, PROBE);
    end.on('data', () => idle.refresh());
  }
  socket.once('close', () => clearTimeout(idle));
}

/** Closes connections gracefully, and destroys those that are still open after HANG_UP. */
function part(ends: Iterable<Duplex>): void {
  const all = [...ends];
  for (const end of all) {
    end.unpipe();
    end.end();
    // Discards data that still arrives: unread data would turn the close into a reset.
    end.resume();
  }
  setTimeout(() => {
    for (const end of all) end.destroy();
  }, HANG_UP).unref();
}

function hold(open: Set<Duplex>, socket: Duplex): void {
  open.add(socket);
  socket.once('close', () => open.delete(socket));
}
