import { failure, pass, type Verdict } from '../../finding.ts';
import { carrier, type GatewayCheck, type GatewayFacts, gatewayChecks } from '../check.ts';
import type { Echo } from '../echo.ts';
import type { ExaminedGateway, Tried } from '../gateway.ts';
import { gotThrough } from '../got-through.ts';

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

/** Whether the gateway and the backend agree where a request ends. */
export const FRAMING: readonly GatewayCheck[] = [
  ...gatewayChecks(['echo', 'refused'], {
    'framing.smuggled': {
      title: 'No request is smuggled past the auth service',
      reference: 'RFC 9112 sections 6.3, 11.2',
      fix: 'Upgrade the gateway and use its strict parser (no "accept-invalid-http-request", no insecure parser), and ask the auth service about every request, not once for each connection. The backend serves the hidden request as if it had been judged.',
      run: async (gateway, found) => {
        const problems: Verdict[] = [];
        for (const [what, { hidden }] of await sendAll(gateway, found)) {
          const how = `a request without a token, sent with ${what},`;
          const verdict = gotThrough(gateway, { answers: [], echoes: hidden }, how);
          if (verdict !== undefined) problems.push(verdict);
        }
        return problems.length > 0 ? problems : pass(`${Object.keys(FRAMINGS).length} messages`);
      },
    },
  }),
  ...gatewayChecks(['echo'], {
    'framing.ambiguous': {
      title: 'Ambiguous messages are refused or rewritten',
      reference: 'RFC 9112 sections 5.2, 6.1, 6.3',
      fix: 'Upgrade the gateway and use its strict parser: it must refuse these messages with 400, or send the backend one length or one coding. A backend that reads them differently finds a second request in the body.',
      run: async (gateway, found) => {
        const problems: Verdict[] = [];
        for (const [what, { outer }] of await sendAll(gateway, found)) {
          const wrong = outer.map(ambiguity).find((one) => one !== undefined);
          if (wrong !== undefined) problems.push(failure(`${what}: the backend receives ${wrong}`));
        }
        return problems.length > 0 ? problems : pass(`${Object.keys(FRAMINGS).length} messages`);
      },
    },
  }),
];

/** What the backend received: the request whose framing is odd, and the one hidden behind it. */
interface Arrived {
  readonly outer: readonly Echo[];
  readonly hidden: readonly Echo[];
}

const sent = new WeakMap<ExaminedGateway, Promise<readonly (readonly [what: string, Arrived])[]>>();

/** Sends all messages at the same time, since some may be waited for in vain. Both checks look at the same ones. */
function sendAll(
  gateway: ExaminedGateway,
  found: GatewayFacts,
): Promise<readonly (readonly [what: string, Arrived])[]> {
  const known = sent.get(gateway);
  if (known !== undefined) return known;
  const all = Promise.all(
    Object.entries(FRAMINGS).map(async ([what, framing]) => {
      const tried = await gateway.attemptBytes((id) => message(gateway, found, framing, id), PATIENCE);
      return [what, arrivedOf(tried)] as const;
    }),
  );
  sent.set(gateway, all);
  return all;
}

const isHidden = ({ target }: Echo) => target.includes('doctor-hidden');

function arrivedOf({ echoes }: Tried): Arrived {
  return { outer: echoes.filter((one) => !isHidden(one)), hidden: echoes.filter(isHidden) };
}

function message(gateway: ExaminedGateway, found: GatewayFacts, framing: Framing, id: string): string {
  const { host, echoPath } = gateway;
  const { attempt } = carrier(gateway, found);
  const hidden = `GET ${echoPath}?doctor=${id}&doctor-hidden HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const { fields, body, version = '1.1' } = framing(hidden);
  const authorization = attempt.authorization === undefined ? '' : `Authorization: ${attempt.authorization}\r\n`;
  const start = `POST ${attempt.target ?? echoPath}?doctor=${id} HTTP/${version}\r\nHost: ${host}\r\n`;
  // If the hidden request was read as a body, this one ends the connection.
  const last = `GET ${echoPath} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return `${start}${authorization}${fields}\r\n${body}${last}`;
}

/** What makes the framing of a received request ambiguous. */
function ambiguity({ headers }: Echo): string | undefined {
  const values = (name: string) => headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  const [lengths, codings] = [values('content-length'), values('transfer-encoding')];
  if (lengths.length > 0 && codings.length > 0) return 'Content-Length and Transfer-Encoding';
  if (lengths.length > 1) return `${lengths.length} Content-Length fields`;
  if (lengths.some((value) => !/^\d+$/.test(value))) return `Content-Length: ${lengths[0]}`;
  if (codings.some((value) => value.toLowerCase() !== 'chunked')) return `Transfer-Encoding: ${codings[0]}`;
  const odd = headers.find(([name, value]) => /\s/.test(name) || /[\r\n]/.test(value));
  return odd === undefined ? undefined : `the field ${JSON.stringify(odd.join(': '))}`;
}
