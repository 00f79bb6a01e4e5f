import { createHash } from 'node:crypto';
import { writeAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { DISCOVERY_PATHS } from './paths.ts';

/** A document as it is served: its text and its version. */
export interface ServedDocument {
  readonly type: string;
  readonly text: string;
  /** RFC 9110 §8.8.3, quotes and all. */
  readonly etag: string;
}

/** RFC 8631: each names the other, so that who finds one finds both. */
const LINK = `<${DISCOVERY_PATHS.openapi}>; rel="service-desc"; type="application/json", <${DISCOVERY_PATHS.authMd}>; rel="service-doc"; type="text/markdown"`;

export function servedDocument(type: string, text: string): ServedDocument {
  return { type, text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

/** Answers with a document, or with 304 when the client has it (RFC 9110 §13.1.2). */
export function serveDocument({ request, response }: Exchange, { type, text, etag }: ServedDocument): void {
  const headers = { etag, link: LINK, 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' };
  if (names(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  writeAnswer(response, { status: 200, headers: { ...headers, 'content-type': type }, body: text });
}

/** Compared weakly: a proxy in front that compresses makes our tag weak. */
function names(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  return condition.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
}
