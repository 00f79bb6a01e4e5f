import { randomUUID } from 'node:crypto';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import type { Provenance } from '../http/provenance.ts';
import { cutOff } from './answer-stream.ts';
import { upstreamFailure } from './failures.ts';
import { asksForWebSocket } from './framing.ts';
import { type ResponsePolicy, responseHead } from './headers.ts';
import { answerOn } from './socket-answer.ts';
import type { Target } from './target.ts';

export interface Tunnels {
  /** `told` gets the status that was sent, once: 101 when the tunnel stands. */
  open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    target: Target,
    provenance: Provenance,
    told: (status: number) => void,
  ): void;
  /** Ends each tunnel in order, at both ends. */
  hangUp(): void;
  close(): void;
}

/** Milliseconds that the other end has to end its side of a tunnel. */
const HANG_UP = 500;
/** Milliseconds of silence after which an end of a tunnel is asked whether it is there (TCP keep-alive). */
const PROBE = 30_000;

export interface TunnelOptions {
  readonly upstreamUrl: URL;
  /** Milliseconds the upstream has to answer the handshake. */
  readonly timeout: number;
  /** Milliseconds in which something must come from one end or the other. */
  readonly idle: number;
  readonly responsePolicy: ResponsePolicy;
  /** By which name an https upstream is called; '': as Host. */
  readonly servername: string;
  /** The request's fields under the policy. */
  readonly headersOf: (request: IncomingMessage, provenance: Provenance) => string[];
  readonly pathOf: (target: Target) => string;
}

/**
 * WebSocket tunnels (RFC 6455) to the legacy site, on node:http itself. http-proxy-middleware's own upgrade path sends
 * the client's fields on and writes the upstream's 101 and its refusals back without a hook for the header policy, and
 * passes early bytes on before the upstream has agreed. Here the same policy holds as for any request, bytes flow only
 * after a 101, and an answer that is no upgrade is passed on as an ordinary answer.
 */
export function createTunnels(options: TunnelOptions): Tunnels {
  const { upstreamUrl, responsePolicy } = options;
  const { request: send } = upstreamUrl.protocol === 'https:' ? https : http;
  const open = new Set<Duplex>();

  return {
    open(request, socket, head, target, provenance, told) {
      // Without a listener, a client that resets its connection would end the process.
      socket.on('error', () => socket.destroy());
      hold(open, socket);
      try {
        refuseOddities(request, responsePolicy.origin);
        handshake(request, socket, head, target, provenance, told);
      } catch (thrown) {
        refuse(request, socket, thrown, told);
      }
    },
    hangUp: () => part(open),
    close() {
      for (const socket of open) socket.destroy();
    },
  };

  function handshake(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    target: Target,
    provenance: Provenance,
    told: (status: number) => void,
  ): void {
    const outgoing = send({
      hostname: upstreamUrl.hostname.replace(/^\[|\]$/g, ''),
      port: upstreamUrl.port,
      path: options.pathOf(target),
      agent: false,
      ...(options.servername === '' ? {} : { servername: options.servername }),
      headers: [...options.headersOf(request, provenance), 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
    });
    const late = setTimeout(() => outgoing.destroy(new GatewayError('upstream_timeout')), options.timeout);
    let answered = false;
    const onClientClose = () => outgoing.destroy();
    socket.once('close', onClientClose);

    outgoing.on('upgrade', (answer, upstream, upstreamHead) => {
      answered = true;
      clearTimeout(late);
      socket.off('close', onClientClose);
      hold(open, upstream);
      join(answer, socket, head, upstream, upstreamHead, told);
    });
    outgoing.on('response', (answer) => {
      answered = true;
      clearTimeout(late);
      passOn(request, socket, answer, told);
    });
    outgoing.on('error', (error) => {
      clearTimeout(late);
      if (answered) socket.destroy();
      else refuse(request, socket, error, told);
      answered = true;
    });
    endWithoutBody(outgoing);
  }

  /** Both ends speak WebSocket now: nothing is read any more, and each end closes the other. */
  function join(
    answer: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    upstream: Duplex,
    upstreamHead: Buffer,
    told: (status: number) => void,
  ): void {
    upstream.on('error', () => upstream.destroy());
    socket.once('close', () => upstream.destroy());
    upstream.once('close', () => socket.destroy());
    if (socket.destroyed || answer.headers.upgrade?.toLowerCase() !== 'websocket') {
      upstream.destroy();
      return;
    }
    try {
      socket.write(switching(answer, responsePolicy), 'latin1');
    } catch {
      // A value no field may hold: there is no answer left to give, the handshake was agreed to.
      upstream.destroy();
      return;
    }
    told(101);
    if (upstreamHead.length > 0) socket.write(upstreamHead);
    if (head.length > 0) upstream.write(head);
    endWhenIdle(socket, upstream, options.idle);
    socket.pipe(upstream).pipe(socket);
  }

  function passOn(
    request: IncomingMessage,
    socket: Duplex,
    answer: IncomingMessage,
    told: (status: number) => void,
  ): void {
    const response = answerOn(request, socket);
    socket.once('close', () => answer.destroy());
    answer.on('error', () => cutOff(response));
    try {
      const status = answer.statusCode ?? 0;
      const head = responseHead(status, answer.rawHeaders, responsePolicy, false);
      response.writeHead(head.status, head.fields);
      told(head.status);
      answer.pipe(response);
    } catch (thrown) {
      answer.destroy();
      writeFailure(response, thrown, told);
    }
  }
}

function refuse(request: IncomingMessage, socket: Duplex, thrown: unknown, told: (status: number) => void): void {
  if (!socket.destroyed) writeFailure(answerOn(request, socket), thrown, told);
}

function writeFailure(response: http.ServerResponse, thrown: unknown, told: (status: number) => void): void {
  const failure = upstreamFailure(thrown);
  told(failure.status);
  writeAnswer(response, renderFailure(failure, 'problem', randomUUID()));
}

/**
 * RFC 6455 §4.1: a GET of HTTP/1.1 or later, for a WebSocket and nothing else, without a body. No same-origin policy
 * keeps another site's page from opening a WebSocket with the member's cookies, so its Origin is looked at (§10.2).
 */
function refuseOddities(request: IncomingMessage, origin: string): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const plain = request.method === 'GET' && request.httpVersionMinor >= 1 && length === '0' && coding === undefined;
  if (!plain || !asksForWebSocket(request)) {
    throw new GatewayError('invalid_request', { message: 'Only a WebSocket can be opened this way.' });
  }
  if (request.headers.origin !== undefined && request.headers.origin !== origin) throw new GatewayError('forbidden');
}

/** RFC 9110 §15.2.2. The policy judges final statuses, so the fields are judged as those of a 200. */
function switching(answer: IncomingMessage, policy: ResponsePolicy): string {
  const { fields } = responseHead(200, answer.rawHeaders, policy, false);
  let head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  for (let at = 0; at + 1 < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${head}\r\n`;
}

/**
 * Ends a tunnel on which nothing comes from either end. Bytes count when they arrive: those for a client that vanished
 * are soon not read any more, and are no sign of life. The system asks silent ends whether they are still there.
 */
function endWhenIdle(socket: Duplex, upstream: Duplex, milliseconds: number): void {
  const idle = setTimeout(() => part([socket, upstream]), milliseconds);
  for (const end of [socket, upstream]) {
    if (end instanceof Socket) end.setKeepAlive(true, PROBE);
    end.on('data', () => idle.refresh());
  }
  socket.once('close', () => clearTimeout(idle));
}

/** Ends connections in order, and cuts what has not ended soon after. */
function part(ends: Iterable<Duplex>): void {
  const all = [...ends];
  for (const end of all) {
    end.unpipe();
    end.end();
    // What still comes is dropped: unread, it would turn the end into a reset.
    end.resume();
  }
  setTimeout(() => {
    for (const end of all) end.destroy();
  }, HANG_UP).unref();
}

function endWithoutBody(outgoing: ClientRequest): void {
  outgoing.setNoDelay(true);
  outgoing.end();
}

function hold(open: Set<Duplex>, socket: Duplex): void {
  open.add(socket);
  socket.once('close', () => open.delete(socket));
}
