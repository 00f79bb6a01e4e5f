import { canonicalAddress, type IsTrusted } from './trusted-proxies.ts';

/** Which field the trusted proxies write. Only that one is read: what a proxy does not write, it passes on unseen. */
export type ForwardingField = 'X-Forwarded-For' | 'Forwarded';

/** How a request came here. Addresses are canonical; '' stands for one that is not known. */
export interface Path {
  /** The client: the last address on the way that is no trusted proxy's. */
  readonly client: string;
  /** The client, then every proxy that is vouched for, the one that connected last: a value of X-Forwarded-For. */
  readonly hops: string;
}

/** Longer ones are no addresses: 45 characters, brackets, a port, quotes, and a zone. */
const LONGEST_ENTRY = 80;

/**
 * Follows a request back to its client. In: the address that connected, what its forwarding field says (several fields
 * joined by commas, as node:http does), which addresses are trusted, and which field it is.
 * Read from right to left, through trusted proxies only: each says who it was called by, and what stands further left
 * was told by somebody whom nobody vouches for. An entry that is no address ends the search at the proxy that wrote it.
 */
export function followBack(
  connected: string,
  told: string | undefined,
  isTrusted: IsTrusted,
  field: ForwardingField,
): Path {
  let client = connected;
  let hops = connected;
  if (told === undefined) return { client, hops };
  for (let end = told.length; end > 0 && isTrusted(client); ) {
    const comma = told.lastIndexOf(',', end - 1);
    const entry = told.slice(comma + 1, end).trim();
    end = comma;
    const address = entry.length > LONGEST_ENTRY * 4 ? '' : addressIn(field === 'Forwarded' ? forIn(entry) : entry);
    if (address === '') break;
    client = address;
    hops = `${address}, ${hops}`;
  }
  return { client, hops };
}

/** The `for` of one element of Forwarded (RFC 7239 §4), unquoted; '' when there is not exactly one. */
function forIn(element: string): string {
  const found = [...element.matchAll(/(?:^|;)[ \t]*for=(?:"([^"\\]*)"|([^\s;"]*))[ \t]*(?=;|$)/gi)];
  const [, quoted, plain] = found.length === 1 ? (found[0] ?? []) : [];
  return quoted ?? plain ?? '';
}

/** The address in `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`; '' in all else. */
function addressIn(entry: string): string {
  if (entry.length > LONGEST_ENTRY) return '';
  const [, bracketed, before] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(entry) ?? [];
  return canonicalAddress(bracketed ?? before ?? entry);
}
