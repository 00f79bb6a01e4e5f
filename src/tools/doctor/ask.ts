import { lookup as resolve } from 'node:dns';
import { once } from 'node:events';
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import manifest from '../../../package.json' with { type: 'json' };
import { isPublicAddress } from '../../http/public-address.ts';
import { isLoopback } from '../connect/oauth/transport.ts';
import type { Answer } from './answer.ts';
import { type Limits, Unavailable, within } from './unavailable.ts';

/** A request. `agent` is the User-Agent: the doctor's own by default, and `null` sends none. */
export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: string | null;
}

/**
 * Sends a request and reads the response within limits. Throws NoAnswer, and Unavailable for addresses it must not
 * call.
 */
export type Ask = (url: string, question?: Question) => Promise<Answer>;

export interface AskOptions extends Limits {
  /** The origin that the operator named. Other hosts are subject to restrictions. */
  readonly origin: string;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string | undefined;
  /** The longest body that is read, in bytes. By default, more than any document of an authorization server has. */
  readonly longestBody?: number;
}

const AGENT = `coursegate-doctor/${manifest.version} (audit of an OAuth deployment, asked for by a person)`;
const LONGEST_BODY = 256 * 1024;
/** Milliseconds to wait for the first event of a stream. */
const FIRST_EVENT = 1500;

export function createAsk(options: AskOptions): Ask {
  const home = new URL(options.origin);
  const longest = options.longestBody ?? LONGEST_BODY;
  return async (url, question = {}) => {
    const target = URL.parse(url);
    if (target === null) throw new Unavailable(`"${url}" is not a URL`);
    const lookup = requireAskable(target, home);
    return within(options, (signal) => exchange(target, question, { lookup, ca: options.ca, signal, longest }));
  };
}

/** Whether a URL names this machine, or an address that is not on the internet. */
export function isHidden({ hostname }: URL): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return isLoopback(hostname) || (isIP(address) !== 0 && !isPublicAddress(address));
}

/**
 * Metadata may contain any address, and hostile metadata may point into the operator's network. The named host is
 * always allowed; other hosts only over https and at public addresses, unless the named host is this machine itself.
 */
function requireAskable(target: URL, home: URL): LookupFunction | undefined {
  if (!/^https?:$/.test(target.protocol)) throw new Unavailable(`${target.href} is not a web address`);
  if (target.hostname === home.hostname) return undefined;
  if (isLoopback(home.hostname) && isLoopback(target.hostname)) return undefined;
  if (target.protocol !== 'https:') throw new Unavailable(`no request to ${target.origin}: it is not https`);
  if (isHidden(target)) throw new Unavailable(`no request to ${target.origin}: it is in a private network`);
  return publicOnly;
}

const publicOnly: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    if (!addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new Unavailable(`no request to ${hostname}: it resolves to a private network`), '', 0);
    if (options.all === true) return callback(null, addresses);
    callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  });
};

interface Exchange {
  readonly lookup: LookupFunction | undefined;
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
  readonly longest: number;
}

async function exchange(
  target: URL,
  { method = 'GET', headers = {}, body, agent = AGENT }: Question,
  { lookup, ca, signal, longest }: Exchange,
): Promise<Answer> {
  const options: RequestOptions & { ca?: string; servername?: string } = {
    method,
    // A new connection for each request, so that one response cannot affect the next.
    agent: false,
    signal,
    // Otherwise Node takes it from the Host header, and a forged one would not match the certificate.
    servername: isIP(target.hostname.replace(/^\[|\]$/g, '')) === 0 ? target.hostname : '',
    headers: {
      ...(agent === null ? {} : { 'user-agent': agent }),
      accept: 'application/json, */*;q=0.5',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    ...(lookup === undefined ? {} : { lookup }),
    ...(ca === undefined ? {} : { ca }),
  };
  const sent = (target.protocol === 'https:' ? secureRequest : plainRequest)(target, options);
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // After the response has begun, its own errors say enough.
  sent.on('error', () => undefined);
  sent.end(body);
  try {
    const [response] = await answered;
    const { statusCode = 0, headers: received } = response;
    return { url: target.href, method, status: statusCode, headers: received, ...(await read(response, longest)) };
  } finally {
    sent.destroy();
  }
}

async function read(response: IncomingMessage, longest: number): Promise<Pick<Answer, 'text' | 'cut'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  if (/^text\/event-stream/i.test(response.headers['content-type'] ?? '')) {
    // A stream may never end. Its beginning is enough, and a stream without events so far is a valid response too.
    const late = sleep(FIRST_EVENT, [], { ref: false });
    const [first] = await Promise.race([once(response, 'data'), once(response, 'end'), late]);
    return { text: String(first ?? '').slice(0, longest), cut: false };
  }
  for await (const chunk of response) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > longest) break;
  }
  return { text: Buffer.concat(chunks).toString('utf8', 0, longest), cut: length > longest };
}
