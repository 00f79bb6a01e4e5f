import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Answer } from '../errors.ts';

/** What the gateway is to do with a request. */
export type Decided =
  /** Forward it with the identity, and give the client `own`: alternating names and values. */
  | { readonly kind: 'admitted'; readonly identity: readonly string[]; readonly own: readonly string[] }
  /** Give the client this answer. */
  | { readonly kind: 'refused'; readonly answer: Answer };

/** A response to the gateway. Fields may be alternating names and values. */
type Told = Omit<Answer, 'headers'> & { readonly headers: OutgoingHttpHeaders | string[] };

/** What the gateway is told, in the way of its family. */
export type Tell = (decided: Decided) => Told;

/** As gateways understand it that copy any response but a 2xx to the client. */
export const tellPlainly: Tell = (decided) =>
  decided.kind === 'admitted' ? permission([...decided.identity, ...decided.own]) : decided.answer;

/** @param headers alternating names and values */
export function permission(headers: string[]): Told {
  headers.push('Content-Length', '0');
  return { status: 200, headers, body: '' };
}

/**
 * The response to a decision request. The steps of a request answer the client on it as on any other response. To a
 * gateway a 2xx means that the request may pass, so nothing but `admit` writes one.
 */
export class DecisionResponse extends ServerResponse<IncomingMessage> {
  tell: Tell = tellPlainly;
  #head: Pick<Answer, 'status' | 'headers'> | undefined;
  #decided = false;

  /** Lets the request pass. */
  admit(identity: readonly string[], own: readonly string[]): undefined {
    this.#decide({ kind: 'admitted', identity, own }, 200);
  }

  /** Keeps the head of an answer for the client. Throws for a status that gateways take for permission. */
  override writeHead(status: number, ...rest: unknown[]): this {
    if (status < 400) throw new Error(`A decision cannot be refused with ${status}.`);
    const given = (rest.at(-1) ?? {}) as OutgoingHttpHeaders;
    this.#head = { status, headers: texts({ ...this.getHeaders(), ...given }) };
    return this;
  }

  override end(body?: unknown): this {
    if (this.#decided || this.#head === undefined) throw new Error('A decision has no answer, or two.');
    const text = body instanceof Uint8Array ? Buffer.from(body).toString() : String(body ?? '');
    this.#decide({ kind: 'refused', answer: { ...this.#head, body: text } }, this.#head.status);
    return this;
  }

  #decide(decided: Decided, status: number): void {
    for (const name of this.getHeaderNames()) this.removeHeader(name);
    const told = this.tell(decided);
    // HTTP/1.1 keeps a connection without being told (RFC 9112 section 9.3).
    if (decided.kind === 'admitted') this.removeHeader('connection');
    super.writeHead(told.status, told.headers as OutgoingHttpHeaders);
    super.end(told.body);
    this.#decided = true;
    // Metrics and the access log have the answer for the client, whatever the gateway was sent.
    this.statusCode = status;
  }
}

/** Field names in lower case: what a step has set is replaced by what it writes in the end. */
function texts(headers: OutgoingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : String(value)]],
    ),
  );
}
