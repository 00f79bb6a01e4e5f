import { Resolver } from 'node:dns/promises';
import { isPublicAddress } from './address.ts';

/** The network that documents are fetched over: the internet, unless a test brings its own. Never configuration. */
export interface DocumentNetwork {
  /** Out: every address of a host. Throws when there is none. */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether a connection may be made to an address. */
  permits(address: string): boolean;
  readonly port: number;
  /** PEM certificates trusted instead of the well-known authorities. */
  readonly trusted: string | undefined;
}

/** Milliseconds for one try of one name server; two tries fit into a document's deadline. */
const DNS_TIMEOUT = 1000;

/**
 * Names are asked of DNS itself, not of the operating system's resolver: that one also reads local files, and holds a
 * thread per name, so that names which never resolve would keep the gate from finding its own upstreams.
 */
export const INTERNET: DocumentNetwork = {
  async resolve(host) {
    const resolver = new Resolver({ timeout: DNS_TIMEOUT, tries: 2 });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
    return addresses;
  },
  permits: isPublicAddress,
  port: 443,
  trusted: undefined,
};
