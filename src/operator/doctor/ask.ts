import { lookup as resolve } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import manifest from '../../../package.json' with { type: 'json' };
import { boundedExchange } from '../../http/bounded-client.ts';
import { socketHost } from '../../http/host.ts';
import { isPublicAddress } from '../../http/public-address.ts';
import { isLoopback } from '../connect/oauth/transport.ts';
import type { SiteAnswer } from './answer.ts';
import type { ServerAddress } from './connection.ts';
import { Unavailable, within } from './unavailable.ts';

/** A request. `agent` is the User-Agent: the doctor's own by default, and `null` sends none. */
export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: string | null;
  /** The longest body that is read, in bytes. By default, more than any document of an authorization server has. */
  readonly longest?: number;
}

/**
 * Sends a request and reads the response within limits. Throws NoAnswer, and Unavailable for addresses it must not
 * call.
 */
export type Ask = (url: string, question?: Question) => Promise<SiteAnswer>;

const AGENT = `coursegate-doctor/${manifest.version} (audit of an OAuth deployment, asked for by a person)`;
const LONGEST_BODY = 256 * 1024;

/**
 * Sends requests to the origin that the operator named, and to others with restrictions.
 * @param mostRead - `longest` of the questions that name none
 */
export function createAsk({ origin, ca, ...limits }: ServerAddress, mostRead = LONGEST_BODY): Ask {
  const home = new URL(origin);
  return async (url, { method = 'GET', headers = {}, body, agent = AGENT, longest = mostRead } = {}) => {
    const target = URL.parse(url);
    if (target === null) throw new Unavailable(`"${url}" is not a URL`);
    const lookup = requireAskable(target, home);
    const answer = await within(limits, (signal) =>
      boundedExchange(target, {
        method,
        headers: {
          ...(agent === null ? {} : { 'user-agent': agent }),
          accept: 'application/json, */*;q=0.5',
          ...headers,
        },
        body,
        signal,
        longest,
        // A new connection for each request, so that one response cannot affect the next.
        agent: false,
        ...(lookup === undefined ? {} : { lookup }),
        ...(ca === undefined ? {} : { ca }),
      }),
    );
    const { status, headers: received, cut } = answer;
    // Of a document that is too long, the beginning says what it is.
    const text = answer.body.toString('utf8', 0, cut ? LONGEST_BODY : undefined);
    return { url: target.href, method, status, headers: received, text, cut };
  };
}

/** Whether a URL names this machine, or an address that is not on the internet. */
export function isHidden({ hostname }: URL): boolean {
  const address = socketHost(hostname);
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
