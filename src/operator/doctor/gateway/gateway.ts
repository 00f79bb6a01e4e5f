import { randomBytes } from 'node:crypto';
import manifest from '../../../../package.json' with { type: 'json' };
import type { ServerAddress } from '../connection.ts';
import { patiently } from '../rate-limit.ts';
import { type Echo, type EchoServer, type Field, parseEcho } from './echo.ts';
import { fieldOf, parseAnswers, type RawAnswer, sendRaw } from './raw-answers.ts';

/** Where the operator's gateway is, and what is behind it. */
interface GatewayTarget {
  /** How requests are sent. */
  readonly to: ServerAddress;
  /** A protected path that reaches the echo server, without a trailing slash. */
  readonly echoPath: string;
  /** A path that needs no token and should reach the echo server. */
  readonly openPath: string;
  /** A protected path that needs a scope which the token does not have. */
  readonly forbiddenPath: string | undefined;
  readonly token: string | undefined;
  /** The hosts of other schools that the gateway serves, for which the token is not. */
  readonly otherHosts: readonly string[];
  /** The echo server, if it runs in this process. It also sees requests whose response is lost. */
  readonly echoServer: EchoServer | undefined;
}

/** A request as the client writes it. By default it asks for the echo path, without a token. */
export interface GatewayRequest {
  readonly method?: string;
  /** Path and query, byte for byte (Latin-1). */
  readonly target?: string;
  readonly headers?: readonly Field[];
  /** In the field Host; that of the gateway by default. */
  readonly host?: string;
  /** The value of Authorization. */
  readonly authorization?: string | undefined;
  /** The id of an earlier request, to send its target again. */
  readonly id?: string;
}

/** What became of a request. */
export interface Tried {
  readonly id: string;
  readonly answers: readonly RawAnswer[];
  /** What the backend received; empty if nothing reached it. */
  readonly echoes: readonly Echo[];
}

export type ExaminedGateway = ReturnType<typeof createGateway>;

const AGENT = `coursegate-doctor/${manifest.version} (attacks on a gateway, asked for by its operator)`;

export function createGateway(target: GatewayTarget) {
  const { to, token, echoServer } = target;
  const host = new URL(to.origin).host;
  const run = randomBytes(6).toString('hex');
  const busy: RawAnswer[] = [];
  let count = 0;
  const nextId = () => {
    count += 1;
    return `${run}-${count}.`;
  };
  const tried = (id: string, received: string): Tried => {
    const answers = parseAnswers(received);
    busy.push(...answers.filter(({ status }) => status === 429 || status === 503));
    const answered = answers.map(({ text }) => parseEcho(text)).filter((one) => one !== undefined);
    return { id, answers, echoes: [...answered, ...(echoServer?.received(id) ?? [])] };
  };
  const sendOnce = async (request: GatewayRequest) => {
    const { id = nextId() } = request;
    const bytes = requestBytes({ target: target.echoPath, ...request }, id, host);
    return tried(id, await sendRaw(to, bytes, (received) => parseAnswers(received)[0]?.complete === true));
  };
  return {
    ...target,
    /** As in the field Host. */
    host,
    /** The Authorization of a valid token; undefined without one. */
    bearer: token === undefined ? undefined : `Bearer ${token}`,
    /** Every 429 and 503 so far. */
    busy: busy as readonly RawAnswer[],
    /** Sends a request. After a 429, it waits once, and then throws Unavailable. */
    send: (request: GatewayRequest): Promise<Tried> =>
      patiently(
        'the gateway',
        to.signal,
        () => sendOnce(request),
        ({ answers: [answer], echoes }) =>
          answer?.status === 429 && echoes.length === 0 ? fieldOf(answer, 'retry-after') : undefined,
      ),
    /**
     * Sends bytes, which contain the id that they are given: requests that reach the backend are recognised by it. Reads
     * until the gateway closes the connection, for `patience` milliseconds at most.
     */
    async sendBytes(write: (id: string) => string, patience: number): Promise<Tried> {
      const id = nextId();
      return tried(id, await sendRaw({ ...to, patience: Math.min(patience, to.patience) }, write(id)));
    },
  };
}

function requestBytes(request: GatewayRequest, id: string, usual: string): string {
  const { method = 'GET', target = '/', headers = [], authorization, host } = request;
  const fields: Field[] = [
    ['Host', host ?? usual],
    ['User-Agent', AGENT],
    ['Accept', 'application/json'],
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ...headers,
    ...(headers.some(([name]) => name === 'Connection') ? [] : [['Connection', 'close'] as const]),
    ...(/^(GET|HEAD|TRACE)$/i.test(method) ? [] : [['Content-Length', '0'] as const]),
  ];
  const query = `${target.includes('?') ? '&' : '?'}doctor=${id}`;
  return `${method} ${target}${query} HTTP/1.1\r\n${fields.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n`;
}
