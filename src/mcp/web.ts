import type { IncomingMessage } from 'node:http';
import type { WrittenAnswer } from '../http/answer.ts';

const BOTH = 'application/json, text/event-stream';
const ANY_OF_BOTH = ['*/*', 'application/*', 'application/json', 'text/event-stream'];

/** What of a request the SDK reads, besides the fields of the protocol. */
const READ = new Set(['accept', 'content-type', 'last-event-id']);

/**
 * A request as the SDK takes it, without its body, which is read already, and without its token, which is judged already.
 * Its address is the configured one, whatever Host says. An Accept that leaves the choice to us, or names one of the two
 * types, takes both: what is answered is JSON in any case.
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

/** Whether a client names event streams among what it takes. */
export function takesEvents({ headers }: IncomingMessage): boolean {
  return typesOf(headers.accept ?? '').includes('text/event-stream');
}

function typesOf(accept: string): string[] {
  return accept.split(',').map((range) => (range.split(';', 1)[0] ?? '').trim().toLowerCase());
}

/**
 * The answer of the SDK, whole. It frames what it says to clients before 2026-07-28 as an event stream of one message;
 * those take JSON as well, some nothing else, and a whole answer has a length. A stream of more messages than the answer
 * (of progress, or of the log) stays one where the client takes streams; the others get the answer.
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
