import { isIPv4 } from 'node:net';
import { canonicalAddress, type IsTrusted } from './trusted-proxies.ts';

/** The path of a request to us. Addresses are canonical; '' if unknown. */
export interface NetworkPath {
  /** The client: the last address on the path that is not a trusted proxy's. */
  readonly client: string;
  /** The client, then every trusted proxy, last the one that connected to us: a value for X-Forwarded-For. */
  readonly hops: string;
}

/** Longer entries are not addresses: this allows 45 characters, brackets, a port, quotes, and a zone. */
const LONGEST_ENTRY = 80;

/**
 * Determines the client of a request. The forwarding field is read from right to left, through trusted proxies only:
 * each one names its caller, and entries further to the left come from senders that are not trusted. An entry that is
 * not an address ends the search at the proxy that wrote it.
 * @param connected the address that connected to us
 * @param forwarded the value of the forwarding field; several are joined by commas, as node:http does
 */
export function followBack(connected: string, forwarded: string | undefined, isTrusted: IsTrusted): NetworkPath {
  let client = connected;
  let hops = connected;
  if (forwarded === undefined) return { client, hops };
  for (let end = forwarded.length; end > 0 && isTrusted(client); ) {
    const comma = forwarded.lastIndexOf(',', end - 1);
    const entry = forwarded.slice(comma + 1, end).trim();
    end = comma;
    const address = addressIn(entry);
    if (address === '') break;
    client = address;
    hops = `${address}, ${hops}`;
  }
  return { client, hops };
}

/**
 * The address in `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`; '' for anything else.
 */
function addressIn(entry: string): string {
  if (isIPv4(entry)) return entry;
  if (entry.length > LONGEST_ENTRY) return '';
  const [, bracketed, before] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(entry) ?? [];
  return canonicalAddress(bracketed ?? before ?? entry);
}
