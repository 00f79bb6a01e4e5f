import type { Echo } from './echo.ts';
import type { ExaminedGateway, GatewayRequest } from './gateway.ts';

/** Milliseconds to wait for a message that no side takes for complete. */
const PATIENCE = 1000;

/** Header lines and body of a POST, behind which `hidden` follows: a request for the protected path without a token. */
type Framing = (hidden: string) => { readonly fields: string; readonly body: string; readonly version?: string };

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
/** A body that ends at once if it is chunked, and holds the hidden request if it has a length. */
const endedChunks = (hidden: string) => `0\r\n\r\n${hidden}`;
/** Names a length for the ended chunks, and in `field` a coding that only some servers see. */
const disguised =
  (field: string): Framing =>
  (hidden) => ({ fields: `Content-Length: ${endedChunks(hidden).length}\r\n${field}`, body: endedChunks(hidden) });

/** Messages that servers have framed differently (RFC 9112 sections 6 and 7). */
const FRAMINGS: Readonly<Record<string, Framing>> = {
  'a second request on the connection': (hidden) => ({ fields: 'Content-Length: 0\r\n', body: hidden }),
  'a length and chunks (CL.TE)': disguised('Transfer-Encoding: chunked\r\n'),
  'chunks and a length (TE.CL)': (hidden) => ({
    fields: `Transfer-Encoding: chunked\r\nContent-Length: ${hidden.length.toString(16).length + 2}\r\n`,
    body: chunk(hidden),
  }),
  'two lengths, the first 0': (hidden) => ({
    fields: `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`,
    body: hidden,
  }),
  'two lengths, the last 0': (hidden) => ({
    fields: `Content-Length: ${hidden.length}\r\nContent-Length: 0\r\n`,
    body: hidden,
  }),
  'a length with a sign': (hidden) => ({ fields: `Content-Length: +${hidden.length}\r\n`, body: hidden }),
  'an unknown coding': disguised('Transfer-Encoding: xchunked\r\n'),
  'two codings': disguised('Transfer-Encoding: chunked, identity\r\n'),
  'a space before the colon': disguised('Transfer-Encoding : chunked\r\n'),
  'a folded line': disguised('Transfer-Encoding:\r\n chunked\r\n'),
  'a bare LF': disguised('X-Doctor: x\nTransfer-Encoding: chunked\r\n'),
  'a bare CR': disguised('X-Doctor: x\rTransfer-Encoding: chunked\r\n'),
  'chunks in HTTP/1.0': (hidden) => ({ ...disguised('Transfer-Encoding: chunked\r\n')(hidden), version: '1.0' }),
  'a bare LF in a chunk extension': (hidden) => ({
    fields: 'Transfer-Encoding: chunked\r\n',
    body: `1;\nx\r\n${endedChunks(hidden)}`,
  }),
};

/** What the backend received of a message: the request whose framing is odd, and the one hidden behind it. */
export interface Framed {
  readonly what: string;
  readonly outer: readonly Echo[];
  readonly hidden: readonly Echo[];
}

/** Sends all messages at the same time, since some may be waited for in vain. */
export function sendFramings(gateway: ExaminedGateway, request: GatewayRequest): Promise<readonly Framed[]> {
  return Promise.all(
    Object.entries(FRAMINGS).map(async ([what, framing]) => {
      const { echoes } = await gateway.sendBytes((id) => message(gateway, request, framing, id), PATIENCE);
      return { what, outer: echoes.filter((one) => !isHidden(one)), hidden: echoes.filter(isHidden) };
    }),
  );
}

const isHidden = ({ target }: Echo) => target.includes('doctor-hidden');

function message({ host, echoPath }: ExaminedGateway, request: GatewayRequest, framing: Framing, id: string): string {
  const hidden = `GET ${echoPath}?doctor=${id}&doctor-hidden HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const { fields, body, version = '1.1' } = framing(hidden);
  const authorization = request.authorization === undefined ? '' : `Authorization: ${request.authorization}\r\n`;
  const start = `POST ${request.target ?? echoPath}?doctor=${id} HTTP/${version}\r\nHost: ${host}\r\n`;
  // If the hidden request was read as a body, this one ends the connection.
  const last = `GET ${echoPath} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return `${start}${authorization}${fields}\r\n${body}${last}`;
}
