import { createHmac, type KeyObject } from 'node:crypto';
import { remembered } from '../http/header-names.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { Clock } from '../storage/store.ts';
import { shownPath } from './shown-path.ts';

export type AccessLog = ReturnType<typeof createAccessLog>;

/** Cached hashes. The cache is cleared when it is full. */
const KEPT = 10_000;

/**
 * Writes one JSON object per line and request. The line is built by hand, because a serialiser costs more than the
 * rest of a proxied request. Every value that a client can influence goes through `quoted`, so that it can neither end
 * the line or its string nor send control characters to a terminal.
 * @param line receives each line, including its line feed
 * @param member how members are named: by id, by a keyed hash that is the same in every line, or not at all
 * @param key the key of the hash
 */
export function createAccessLog(
  line: (text: string) => void,
  clock: Clock,
  member: 'id' | 'hash' | 'none',
  key: KeyObject,
) {
  const time = timestamps(clock);
  // Methods, routes, members and the like: the same are written again and again.
  const short = remembered(quoted);
  /** The parts of the line that is being written: joined, they are one string, without one for each step on the way. */
  const parts: string[] = [];
  let count = 0;
  const add = (name: string, value: string): void => {
    parts[count] = name;
    parts[count + 1] = value;
    count += 2;
  };
  const nameOf = member === 'hash' ? hashes(key) : (sub: string) => sub;

  return {
    /** Writes the line of a finished request. `bytes` counts those written to the socket. */
    write(record: RequestRecord, status: number, bytes: number, milliseconds: number): void {
      const { provenance, principal, upstream, upstreamMilliseconds, oauthError, reason } = record;
      const isMember = principal?.kind === 'member';
      count = 0;
      add('{"time":', `"${time()}"`);
      add(',"method":', short(record.method));
      add(',"route":', short(record.route));
      add(',"path":', quoted(shownPath(record.path)));
      add(',"status":', String(status));
      add(',"bytes":', String(bytes));
      add(',"ms":', tenths(milliseconds));
      if (upstream !== '') add(',"upstream":', short(upstream));
      if (upstream !== '' && upstreamMilliseconds >= 0) add(',"upstream_ms":', tenths(upstreamMilliseconds));
      if (isMember) add(',"client":', short(principal.clientId));
      if (isMember && member !== 'none') add(',"member":', short(nameOf(principal.sub)));
      add(',"verdict":', short(record.outcome));
      if (oauthError !== '' && oauthError !== reason) add(',"oauth_error":', quoted(oauthError));
      if (reason !== '') add(',"reason":', quoted(reason));
      add(',"request_id":', quoted(provenance.requestId));
      add(',"trace_id":', quoted(provenance.traceId()));
      add(',"address":', short(provenance.clientAddress));
      add('}', '\n');
      parts.length = count;
      line(parts.join(''));
    },
  };
}

/** Visible ASCII and space without `"` and `\`: these need no escaping in a JSON string. */
const PLAIN = /^[\x20\x21\x23-\x5B\x5D-\x7E]*$/;
/** Line ends and terminal control characters that JSON.stringify does not escape: DEL, C1, U+2028, U+2029. */
const LEFT_BY_JSON = /[\x7F-\x9F\u2028\u2029]/g;

function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(
    LEFT_BY_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function tenths(milliseconds: number): string {
  return String(Math.round(milliseconds * 10) / 10);
}

/** RFC 3339 in UTC, formatted at most once per millisecond. */
function timestamps(clock: () => number): () => string {
  let at = Number.NaN;
  let text = '';
  return () => {
    const now = clock();
    if (now !== at) {
      at = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

function hashes(key: KeyObject): (sub: string) => string {
  const known = new Map<string, string>();
  return (sub) => {
    const before = known.get(sub);
    if (before !== undefined) return before;
    const hash = createHmac('sha256', key).update(sub).digest('base64url').slice(0, 22);
    if (known.size >= KEPT) known.clear();
    known.set(sub, hash);
    return hash;
  };
}
