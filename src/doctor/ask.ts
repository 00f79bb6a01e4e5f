import { lookup as resolve } from 'node:dns';
import { type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Answer } from './answer.ts';
import { noAnswer } from './no-answer.ts';
import { isLoopbackName, isPrivateAddress } from './private-addresses.ts';
import { NoAnswer, Unavailable } from './unavailable.ts';

/** What is asked. Without an agent the doctor says who it is; `null` sends no User-Agent at all. */
export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: string | null;
}

/** Sends one request and reads what comes back, within bounds. Throws NoAnswer, and Unavailable where it will not ask. */
export type Ask = (url: string, question?: Question) => Promise<Answer>;

export interface AskOptions {
  /** The origin that a person asked to have looked at; other hosts are asked with more care. */
  readonly origin: string;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Certificates to trust besides those of the system, PEM. */
  readonly ca?: string | undefined;
  /** Milliseconds for one exchange, from the first byte sent to the last one read. */
  readonly patience: number;
}

const AGENT = 'coursegate-doctor/0.1 (audit of an OAuth deployment, asked for by a person)';
/** No document that is asked for is longer; what is behind is not read. */
const LONGEST_BODY = 256 * 1024;
/** Milliseconds that are waited for the first event of a stream. */
const FIRST_EVENT = 1500;

export function createAsk(options: AskOptions): Ask {
  const home = new URL(options.origin);
  return (url, question = {}) => {
    const target = URL.parse(url);
    if (target === null) throw new Unavailable(`"${url}" is no address`);
    const lookup = requireAskable(target, home);
    return exchange(target, question, options, lookup);
  };
}

/**
 * Metadata may name any address, and a hostile one the network of whoever runs the doctor. The host that was asked for
 * is asked as it is; others only by https and at public addresses, unless the asked one is on this machine itself.
 */
function requireAskable(target: URL, home: URL): LookupFunction | undefined {
  if (!/^https?:$/.test(target.protocol)) throw new Unavailable(`${target.href} is no web address`);
  if (target.hostname === home.hostname) return undefined;
  if (isLoopbackName(home.hostname) && isLoopbackName(target.hostname)) return undefined;
  if (target.protocol !== 'https:') throw new Unavailable(`${target.origin} is not asked: it is not https`);
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  if (isLoopbackName(target.hostname) || (isIP(literal) !== 0 && isPrivateAddress(literal)))
    throw new Unavailable(`${target.origin} is not asked: it is an address of a private network`);
  return publicOnly;
}

const publicOnly: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const hidden = addresses.find(({ address }) => isPrivateAddress(address));
    if (hidden !== undefined)
      return callback(new Unavailable(`${hostname} is not asked: it leads to a private network`), '', 0);
    if (options.all === true) return callback(null, addresses);
    callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  });
};

function exchange(
  target: URL,
  { method = 'GET', headers = {}, body, agent = AGENT }: Question,
  { signal, ca, patience }: AskOptions,
  lookup: LookupFunction | undefined,
): Promise<Answer> {
  const late = AbortSignal.timeout(patience);
  const end = AbortSignal.any([signal, late]);
  const options: RequestOptions & { ca?: string } = {
    method,
    // A connection of its own: what one answer did to it must not colour the next.
    agent: false,
    signal: end,
    headers: {
      ...(agent === null ? {} : { 'user-agent': agent }),
      accept: 'application/json, */*;q=0.5',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    ...(lookup === undefined ? {} : { lookup }),
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((done, failed) => {
    const refuse = (error: unknown) => {
      if (error instanceof Unavailable) failed(error);
      else if (signal.aborted) failed(new Unavailable('the time for the whole audit was over'));
      else failed(late.aborted ? new NoAnswer(`no whole answer within ${patience / 1000} seconds`) : noAnswer(error));
    };
    let sent: ClientRequest;
    try {
      sent = (target.protocol === 'https:' ? secureRequest : plainRequest)(target, options);
    } catch (error) {
      return refuse(error);
    }
    let answered = false;
    sent.on('error', (error) => {
      if (!answered) refuse(error);
    });
    sent.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      let length = 0;
      const finish = (cut: boolean) =>
        done({
          url: target.href,
          method,
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8', 0, LONGEST_BODY),
          cut,
        });
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length <= LONGEST_BODY && !isEndless(response.headers['content-type'])) return;
        finish(length > LONGEST_BODY);
        sent.destroy();
      });
      // A stream that has nothing to say yet has answered all the same.
      const enough = () => {
        finish(false);
        sent.destroy();
      };
      const waiting = isEndless(response.headers['content-type']) ? setTimeout(enough, FIRST_EVENT) : undefined;
      response.on('close', () => clearTimeout(waiting));
      response.on('end', () => finish(false));
      response.on('error', refuse);
    });
    sent.end(body);
  });
}

/** A stream of events need not end: its beginning says what there is to know. */
function isEndless(type: string | undefined): boolean {
  return type?.toLowerCase().startsWith('text/event-stream') === true;
}
