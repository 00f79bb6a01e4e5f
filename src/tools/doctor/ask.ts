import { lookup as resolve } from 'node:dns';
import { type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import manifest from '../../../package.json' with { type: 'json' };
import type { Answer } from './answer.ts';
import { noAnswer } from './no-answer.ts';
import { isLoopbackName, isPrivateAddress } from './private-addresses.ts';
import { NoAnswer, Unavailable } from './unavailable.ts';

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

export interface AskOptions {
  /** The origin that the operator named. Other hosts are subject to restrictions. */
  readonly origin: string;
  /** Aborts everything. */
  readonly signal: AbortSignal;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string | undefined;
  /** Milliseconds for one request, from the first byte sent to the last byte read. */
  readonly patience: number;
}

const AGENT = `coursegate-doctor/${manifest.version} (audit of an OAuth deployment, asked for by a person)`;
/** The longest body that is read. No expected document is longer. */
const LONGEST_BODY = 256 * 1024;
/** Milliseconds to wait for the first event of a stream. */
const FIRST_EVENT = 1500;

export function createAsk(options: AskOptions): Ask {
  const home = new URL(options.origin);
  return (url, question = {}) => {
    const target = URL.parse(url);
    if (target === null) throw new Unavailable(`"${url}" is not a URL`);
    const lookup = requireAskable(target, home);
    return exchange(target, question, options, lookup);
  };
}

/**
 * Metadata may contain any address, and hostile metadata may point into the operator's network. The named host is
 * always allowed; other hosts only over https and at public addresses, unless the named host is this machine itself.
 */
function requireAskable(target: URL, home: URL): LookupFunction | undefined {
  if (!/^https?:$/.test(target.protocol)) throw new Unavailable(`${target.href} is not a web address`);
  if (target.hostname === home.hostname) return undefined;
  if (isLoopbackName(home.hostname) && isLoopbackName(target.hostname)) return undefined;
  if (target.protocol !== 'https:') throw new Unavailable(`no request to ${target.origin}: it is not https`);
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  if (isLoopbackName(target.hostname) || (isIP(literal) !== 0 && isPrivateAddress(literal)))
    throw new Unavailable(`no request to ${target.origin}: it is in a private network`);
  return publicOnly;
}

const publicOnly: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const hidden = addresses.find(({ address }) => isPrivateAddress(address));
    if (hidden !== undefined)
      return callback(new Unavailable(`no request to ${hostname}: it resolves to a private network`), '', 0);
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
    // A new connection for each request, so that one response cannot affect the next.
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
      else if (signal.aborted) failed(new Unavailable('the time for the audit was over'));
      else
        failed(late.aborted ? new NoAnswer(`no complete response within ${patience / 1000} seconds`) : noAnswer(error));
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
      // A stream without events so far is a valid response too.
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

/** An event stream may never end, and its beginning is enough. */
function isEndless(type: string | undefined): boolean {
  return type?.toLowerCase().startsWith('text/event-stream') === true;
}
