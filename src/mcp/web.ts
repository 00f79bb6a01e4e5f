import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WrittenAnswer } from '../http/answer.ts';

const BOTH = 'application/json, text/event-stream';
const ANY_OF_BOTH = ['*/*', 'application/*', 'application/json', 'text/event-stream'];

/** Header fields that the SDK reads, besides those of the protocol. */
const READ = new Set(['accept', 'content-type', 'last-event-id']);

/**
 * Converts a request for the SDK, without its body, which has been read, and its token, which has been checked. The
 * URL has the configured origin, whatever Host says. An Accept that allows either type is widened to both, because the
 * answer is JSON in any case.
 */
export function webRequest(request: IncomingMessage, origin: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || !(READ.has(name) || name.startsWith('mcp-'))) continue;
    headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (takesJson(headers.get('accept'))) headers.set('accept', BOTH);
  return new Request(`${origin}${(request.url ?? '').split('?', 1)[0]}`, { method: 'POST', headers, signal });
}

function takesJson(accept: string | null): boolean {
  if (accept === null || accept.trim() === '') return true;
  return typesOf(accept).some((type) => ANY_OF_BOTH.includes(type));
}

/** Whether the client accepts event streams. */
export function takesEvents({ headers }: IncomingMessage): boolean {
  return typesOf(headers.accept ?? '').includes('text/event-stream');
}

function typesOf(accept: string): string[] {
  return accept.split(',').map((range) => (range.split(';', 1)[0] ?? '').trim().toLowerCase());
}

/**
 * Reads the SDK's response. For protocol versions before 2026-07-28 the SDK frames a single message as an event stream.
 * All these clients accept JSON, some of them nothing else, and a complete answer has a length, so it is sent as JSON. A
 * stream that begins with another message (progress, logs) is passed on to `out` as it comes if the client accepts
 * streams; other clients get only the last message, the answer.
 * @returns undefined if the response has been written to `out`
 */
export async function answerOf(
  { status, headers: given, body }: Response,
  events: boolean,
  out: ServerResponse,
): Promise<WrittenAnswer | undefined> {
  const headers: Record<string, string> = {};
  for (const [name, value] of given) if (KEPT.has(name)) headers[name] = value;
  const isStream = (headers['content-type'] ?? '').startsWith('text/event-stream');
  const held: Uint8Array[] = [];
  for await (const chunk of body ?? []) {
    if (out.headersSent) out.write(chunk);
    else if (
      isStream &&
      events &&
      held.length === 0 &&
      OTHER_MESSAGE.test(Buffer.from(chunk).toString('latin1', 0, 100))
    ) {
      out.writeHead(status, { ...headers, ...UNBUFFERED });
      out.write(chunk);
    } else held.push(chunk);
  }
  if (out.headersSent) {
    out.end();
    return undefined;
  }
  const bytes = Buffer.concat(held);
  if (!isStream) return { status, headers, body: bytes };
  const messages = bytes
    .toString()
    .split('\n\n')
    .flatMap((event) => {
      const data = event.split('\n').filter((line) => line.startsWith('data:'));
      return data.length === 0 ? [] : [data.map((line) => line.slice(5).trimStart()).join('\n')];
    });
  const last = messages.at(-1);
  if (last === undefined || last === '') throw new Error('The SDK gave no answer.');
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body: Buffer.from(last) };
}

/** The start of an event of the SDK that is a request or a notification: the answer to the client has no `method`. */
const OTHER_MESSAGE = /^(?:event: message\n)?data: \{(?:"jsonrpc":"2\.0",)?"method":/;
/** What a proxy must not keep: `x-accel-buffering` is for nginx. */
const UNBUFFERED = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };
const KEPT = new Set(['content-type', 'allow', 'www-authenticate', 'mcp-protocol-version', 'retry-after']);
