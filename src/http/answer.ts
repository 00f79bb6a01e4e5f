import type { ServerResponse } from 'node:http';
import type { Answer } from '../errors.ts';
import { type Challenge, formatChallenge } from '../oauth/challenge.ts';

/** A response whose body may already be bytes, which are written as they are. */
export interface WrittenAnswer extends Omit<Answer, 'body'> {
  readonly body: string | Uint8Array;
}

/** Writes a complete response. For HEAD requests Node omits the body; the length is that of the GET response. */
export function writeAnswer(response: ServerResponse, answer: WrittenAnswer): void {
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
  response.end(answer.body);
}

/**
 * Sets fields on a response.
 * @param fields alternating names and values
 */
export function setFields(response: ServerResponse, fields: readonly string[]): void {
  for (let at = 0; at + 1 < fields.length; at += 2) response.setHeader(fields[at] as string, fields[at + 1] as string);
}

/** A JSON response. `headers` are added, and may override the content type. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** The 401 or 403 with a challenge in `WWW-Authenticate` (RFC 6750 section 3). */
export function challengeAnswer(challenge: Challenge, body?: object): Answer {
  return json(challenge.status, body ?? { error: challenge.error, error_description: challenge.description }, {
    'www-authenticate': formatChallenge(challenge),
    'cache-control': 'no-store',
  });
}
