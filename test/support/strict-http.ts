/**
 * A strict HTTP/1.1 parser (RFC 9112) that accepts only messages no two servers could read differently. Bytes are
 * Latin-1 text. It is separate from the gate's parser so that the two cannot share a mistake.
 */
export interface StrictRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** `incomplete`: the bytes are the beginning of a message. `invalid`: a strict parser does not accept them. */
type Reading<T> =
  | { readonly kind: 'whole'; readonly message: T; readonly rest: string }
  | { readonly kind: 'incomplete' | 'invalid' };

export interface StrictAnswer {
  readonly status: number;
  readonly headers: StrictRequest['headers'];
  readonly body: string;
}

const FIELD =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*((?:[\x21-\x7E\x80-\xFF](?:[\t\x20-\x7E\x80-\xFF]*[\x21-\x7E\x80-\xFF])?)?)[ \t]*$/;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7E]+) HTTP\/1\.1$/;
const GATEWAYS_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7E\x80-\xFF]+) HTTP\/1\.[01]$/;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d) ?[\t\x20-\x7E\x80-\xFF]*$/;

/**
 * The complete requests on a connection, and the rest: the beginning of another. Throws when the bytes are not a
 * sequence of requests.
 * @param ofGateway whether to accept what gateways pass on to a site, unlike the gate: HTTP/1.0, no Host, zeros before a
 * length, bytes above ASCII in a target, and trailers, which are left out: they are no header fields
 */
export function strictRequests(bytes: string, ofGateway = false): { requests: StrictRequest[]; left: string } {
  const requests: StrictRequest[] = [];
  let left = bytes;
  while (left !== '') {
    const reading = strictRequest(left, ofGateway);
    if (reading.kind === 'invalid') throw new Error(`not a valid HTTP request: ${JSON.stringify(left.slice(0, 400))}`);
    if (reading.kind !== 'whole') break;
    requests.push(reading.message);
    left = reading.rest;
  }
  return { requests, left };
}

function strictRequest(bytes: string, ofGateway: boolean): Reading<StrictRequest> {
  const head = readHead(bytes, ofGateway ? GATEWAYS_LINE : REQUEST_LINE);
  if (head.kind !== 'whole') return head;
  const [{ start, headers }, rest] = [head.message, head.rest];
  const [, method = '', target = ''] = start;
  const hosts = valuesOf(headers, 'host').length;
  if (hosts !== 1 && !(hosts === 0 && ofGateway)) return { kind: 'invalid' };
  const body = readBody(headers, rest, () => ({ kind: 'whole', message: '', rest }), ofGateway);
  if (body.kind !== 'whole') return body;
  return { kind: 'whole', message: { method, target, headers, body: body.message }, rest: body.rest };
}

/**
 * Reads one final response to a request with `method`, on a connection that is `open`, or was closed by `end` or
 * `reset`.
 */
export function strictAnswer(bytes: string, method: string, state: 'open' | 'end' | 'reset'): Reading<StrictAnswer> {
  const head = readHead(bytes, STATUS_LINE);
  if (head.kind !== 'whole') return head;
  const [{ start, headers }, rest] = [head.message, head.rest];
  const status = Number(start[1]);
  if (status === 101) return { kind: 'invalid' };
  if (status < 200) return strictAnswer(rest, method, state);
  const untilEnd = (): Reading<string> =>
    state === 'end' ? { kind: 'whole', message: rest, rest: '' } : { kind: 'incomplete' };
  const bodyless = method === 'HEAD' || status === 204 || status === 304;
  const body: Reading<string> = bodyless ? { kind: 'whole', message: '', rest } : readBody(headers, rest, untilEnd);
  if (body.kind !== 'whole') return body;
  return { kind: 'whole', message: { status, headers, body: body.message }, rest: body.rest };
}

export function valuesOf(headers: StrictRequest['headers'], name: string): string[] {
  return headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
}

function readHead(
  bytes: string,
  startLine: RegExp,
): Reading<{ readonly start: RegExpExecArray; readonly headers: StrictRequest['headers'] }> {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return { kind: 'incomplete' };
  const [first = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const start = startLine.exec(first);
  const fields = lines.map((line) => FIELD.exec(line));
  if (start === null || fields.some((field) => field === null)) return { kind: 'invalid' };
  const headers = fields.map((field) => [field?.[1] ?? '', field?.[2] ?? ''] as const);
  return { kind: 'whole', message: { start, headers }, rest: bytes.slice(end + 4) };
}

function readBody(
  headers: StrictRequest['headers'],
  bytes: string,
  unframed: () => Reading<string>,
  ofGateway = false,
): Reading<string> {
  const codings = valuesOf(headers, 'transfer-encoding');
  const lengths = valuesOf(headers, 'content-length');
  if (codings.length + lengths.length === 0) return unframed();
  if (codings.length + lengths.length > 1) return { kind: 'invalid' };
  if (codings.length === 1)
    return codings[0]?.toLowerCase() === 'chunked' ? readChunks(bytes, ofGateway) : { kind: 'invalid' };
  if (!(ofGateway ? /^\d{1,15}$/ : /^(0|[1-9]\d{0,14})$/).test(lengths[0] ?? '')) return { kind: 'invalid' };
  const length = Number(lengths[0]);
  if (bytes.length < length) return { kind: 'incomplete' };
  return { kind: 'whole', message: bytes.slice(0, length), rest: bytes.slice(length) };
}

function readChunks(bytes: string, ofGateway: boolean): Reading<string> {
  let body = '';
  let at = 0;
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return { kind: 'incomplete' };
    const size = /^[0-9a-f]{1,8}$/i.exec(bytes.slice(at, line));
    if (size === null) return { kind: 'invalid' };
    const length = Number.parseInt(size[0], 16);
    const begin = line + 2;
    const after = bytes.slice(begin + length, begin + length + 2);
    if (length === 0 && ofGateway && !'\r\n'.startsWith(after)) {
      const trailers = readHead(`\r\n${bytes.slice(begin)}`, /^$/);
      return trailers.kind === 'whole' ? { kind: 'whole', message: body, rest: trailers.rest } : trailers;
    }
    // Trailers are rejected: a strict sender has none.
    if (!'\r\n'.startsWith(after)) return { kind: 'invalid' };
    if (after !== '\r\n') return { kind: 'incomplete' };
    body += bytes.slice(begin, begin + length);
    at = begin + length + 2;
    if (length === 0) return { kind: 'whole', message: body, rest: bytes.slice(at) };
  }
}
