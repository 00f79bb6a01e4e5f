import { hash } from 'node:crypto';
import { writeAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { PAGE_VARIES } from '../http/navigation.ts';
import { DISCOVERY_PATHS } from './paths.ts';

/** A document and its version. */
type ServedDocument = ReturnType<typeof servedDocument>;

/** Each document links to both (RFC 8631), so that a client that finds one finds the other. */
const LINK = `<${DISCOVERY_PATHS.openapi}>; rel="service-desc"; type="application/json", <${DISCOVERY_PATHS.authMd}>; rel="service-doc"; type="text/markdown"`;

export function servedDocument(type: string, text: string) {
  // The entity tag includes its quotes (RFC 9110 section 8.8.3).
  return { type, text, etag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"` };
}

/** Sends the document, or 304 if the client already has it (RFC 9110 section 13.1.2). */
export function serveDocument({ request, response }: Exchange, { type, text, etag }: ServedDocument): void {
  const headers = {
    ...{ etag, link: LINK, vary: PAGE_VARIES },
    ...{ 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' },
  };
  if (names(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  writeAnswer(response, { status: 200, headers: { ...headers, 'content-type': type }, body: text });
}

/** Weak comparison, because a proxy that compresses responses makes the tag weak. */
function names(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  return condition.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
}
