/** The responses to error codes of Node's parser. Any other parser error is a 400. */
const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * The status line for bytes that are not a request, or did not become one in time, from the error of node:http's
 * `clientError` event. Returns undefined if the connection itself failed, so that there is no client to respond to.
 */
export function unreadableStatus(error: NodeJS.ErrnoException): string | undefined {
  const code = error.code ?? '';
  return ANSWERS[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
}
