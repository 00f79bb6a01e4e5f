import { Resolver } from 'node:dns/promises';
import { isPublicAddress } from '../../http/public-address.ts';

/** The network that documents are fetched from: the internet, or a test's own. Not configurable. */
export interface DocumentNetwork {
  /** All addresses of a host. Throws if there are none. */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether an address may be connected to. */
  permits(address: string): boolean;
  readonly port: number;
  /** PEM certificates to trust instead of the well-known authorities. */
  readonly trusted: string | undefined;
}

/** Milliseconds for one attempt at one name server. Two attempts fit into a document's deadline. */
const DNS_TIMEOUT = 1000;

/**
 * Queries DNS directly instead of using the operating system's resolver, which also reads local files and blocks a
 * thread per name: names that never resolve would then keep the gate from resolving its own upstreams.
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
