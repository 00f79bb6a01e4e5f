import type { IncomingMessage } from 'node:http';
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
 * Reads the SDK's complete response. For protocol versions before 2026-07-28 the SDK frames a single message as an
 * event stream. All these clients accept JSON, some of them nothing else, and a complete answer has a length, so it is
 * sent as JSON. A stream of several messages (progress, logs) stays a stream if the client accepts streams; other
 * clients get only the last message, the answer.
 */
export async function answerOf(response: Response, events: boolean): Promise<WrittenAnswer> {
  const headers: Record<string, string> = {};
  for (const [name, value] of response.headers) if (KEPT.has(name)) headers[name] = value;
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!(headers['content-type'] ?? '').startsWith('text/event-stream'))
    return { status: response.status, headers, body: bytes };
  const text = bytes.toString();
  const messages = text.split('\n\n').flatMap((event) => {
    const data = event.split('\n').filter((line) => line.startsWith('data:'));
    return data.length === 0 ? [] : [data.map((line) => line.slice(5).trimStart()).join('\n')];
  });
  if (messages.length > 1 && events) return { status: response.status, headers, body: bytes };
  const last = messages.at(-1);
  if (last === undefined || last === '') throw new Error('The SDK gave no answer.');
  return {
    status: response.status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(last),
  };
}

const KEPT = new Set(['content-type', 'allow', 'www-authenticate', 'mcp-protocol-version', 'retry-after']);
