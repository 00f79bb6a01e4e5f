/** Node's codes for what its parser refused, and the answers they deserve; any other code of the parser's is a 400. */
const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * What is answered to bytes that are no request, or did not become one in time. In: what node:http says with its
 * `clientError`. Out: the status and its phrase, or undefined when it is the connection that failed, and nobody is
 * there to be answered.
 */
export function unreadableStatus(error: NodeJS.ErrnoException): string | undefined {
  const code = error.code ?? '';
  return ANSWERS[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
}
