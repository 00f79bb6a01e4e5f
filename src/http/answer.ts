import type { ServerResponse } from 'node:http';
import type { Answer } from '../errors.ts';

/** An answer whose body may be bytes already: they are written as they are, and not decoded to be encoded again. */
export interface WrittenAnswer extends Omit<Answer, 'body'> {
  readonly body: string | Uint8Array;
}

/** Writes a finished answer. For HEAD requests Node leaves the body out; the length is that of the GET answer. */
export function writeAnswer(response: ServerResponse, answer: WrittenAnswer): void {
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
  response.end(answer.body);
}

/** In: names and values in turn, which the answer will have besides its own. */
export function setFields(response: ServerResponse, fields: readonly string[]): void {
  for (let at = 0; at + 1 < fields.length; at += 2) response.setHeader(fields[at] as string, fields[at + 1] as string);
}

/** A JSON answer. `headers` are added to, and may overrule, the content type. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
