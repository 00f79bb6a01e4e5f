import { createHmac, type KeyObject } from 'node:crypto';
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
  const nameOf = member === 'hash' ? hashes(key) : (sub: string) => sub;

  return {
    /** Writes the line of a finished request. `bytes` counts those written to the socket. */
    write(record: RequestRecord, status: number, bytes: number, milliseconds: number): void {
      let text =
        `{"time":"${time()}","method":${quoted(record.method)},"route":${quoted(record.route)},` +
        `"path":${quoted(shownPath(record.path))},"status":${status},"bytes":${bytes},"ms":${tenths(milliseconds)}`;
      if (record.upstream !== '') {
        text += `,"upstream":${quoted(record.upstream)}`;
        if (record.upstreamMilliseconds >= 0) text += `,"upstream_ms":${tenths(record.upstreamMilliseconds)}`;
      }
      const { principal } = record;
      if (principal?.kind === 'member') {
        text += `,"client":${quoted(principal.clientId)}`;
        if (member !== 'none') text += `,"member":${quoted(nameOf(principal.sub))}`;
      }
      text += `,"verdict":"${record.outcome}"`;
      if (record.oauthError !== '' && record.oauthError !== record.reason)
        text += `,"oauth_error":${quoted(record.oauthError)}`;
      if (record.reason !== '') text += `,"reason":"${record.reason}"`;
      const { provenance } = record;
      text += `,"request_id":${quoted(provenance.requestId)}`;
      text += `,"trace_id":"${provenance.traceId()}"`;
      line(`${text},"address":${quoted(provenance.clientAddress)}}\n`);
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

function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
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
