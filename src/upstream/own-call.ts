import { GatewayError } from '../errors.ts';
import { mediaType } from '../http/body.ts';
import type { AdmittedCall } from './admission.ts';
import { BodyLines, type OnLine } from './body-lines.ts';
import { unusableResponse, upstreamFailure, wasStaleConnection } from './failures.ts';
import {
  type HttpClient,
  type HttpRequest,
  type RequestControl,
  type ResponseHandler,
  responseFields,
} from './http-client.ts';
import type { UpstreamResponse } from './request.ts';

const LARGEST_ANSWER = 2 * 1024 * 1024;
const IN_LINES = new Set(['application/x-ndjson', 'text/event-stream']);

export interface OwnCallPlan {
  readonly connections: HttpClient;
  readonly admitted: AdmittedCall;
  readonly request: HttpRequest;
  /** Milliseconds for the whole call, up to the last byte; from its last sign of work, if it has given any. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly onLine?: OnLine | undefined;
  /** Called with the status when the head of the response arrives. */
  readonly answered?: ((status: number) => void) | undefined;
}

/**
 * Makes one of our own calls and reads the whole response. Implemented as a response handler, because an
 * intermediate stream and combined abort signals cost as much as the rest of the call. Rejects with GatewayError.
 */
export function makeOwnCall(plan: OwnCallPlan): Promise<UpstreamResponse> {
  return new OwnCall(plan).start();
}

class OwnCall implements ResponseHandler {
  readonly #plan: OwnCallPlan;
  readonly #done = Promise.withResolvers<UpstreamResponse>();
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#giveUp(new GatewayError('upstream_timeout', { cause: this.#plan.signal?.reason }));
  #controller: RequestControl | undefined;
  /** Only a safe call is retried (RFC 9110 section 9.2.2), and only once. */
  #maySendAgain: boolean;
  #over = false;
  #status = 0;
  #headers: Record<string, string> = {};
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #lines: BodyLines | undefined;

  constructor(plan: OwnCallPlan) {
    this.#plan = plan;
    this.#maySendAgain = plan.request.method === 'GET';
    this.#timer = setTimeout(() => this.#giveUp(new GatewayError('upstream_timeout')), plan.deadline);
  }

  start(): Promise<UpstreamResponse> {
    const { signal, connections, request } = this.#plan;
    if (signal?.aborted === true) this.#onAbort();
    else {
      signal?.addEventListener('abort', this.#onAbort, { once: true });
      connections.send(request, this, false);
    }
    return this.#done.promise;
  }

  onRequestStart(controller: RequestControl): void {
    this.#controller = controller;
    // Cancelled while it waited for a connection.
    if (this.#over) controller.abort(new GatewayError('upstream_timeout'));
  }

  onResponseStart(controller: RequestControl, status: number): void {
    if (status >= 100 && status < 200) return;
    this.#maySendAgain = false;
    this.#status = status;
    this.#headers = joined(responseFields(controller));
    this.#plan.admitted.answered();
    this.#plan.answered?.(status);
    const { onLine } = this.#plan;
    const hasLines = status < 300 && IN_LINES.has(mediaType(this.#headers['content-type']));
    if (onLine !== undefined && hasLines) this.#lines = new BodyLines(onLine);
  }

  onResponseData(controller: RequestControl, chunk: Buffer): void {
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#length > LARGEST_ANSWER) controller.abort(unusableResponse('more than 2 MiB'));
    else if (this.#lines?.read(chunk) === true && !this.#over) this.#timer.refresh();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    const coding = this.#headers['content-encoding'];
    if (coding !== undefined && coding !== 'identity' && this.#length > 0) {
      this.#fail(unusableResponse('a content coding that was not requested'));
      return;
    }
    this.#end();
    this.#done.resolve({ status: this.#status, headers: this.#headers, body: textOf(this.#chunks) });
  }

  onResponseError(_controller: RequestControl | null, error: Error): void {
    if (this.#over) return;
    if (this.#maySendAgain && wasStaleConnection(error)) {
      this.#maySendAgain = false;
      this.#plan.connections.send(this.#plan.request, this, true);
    } else this.#fail(upstreamFailure(error));
  }

  #giveUp(failure: GatewayError): void {
    if (this.#over) return;
    this.#fail(failure);
    this.#controller?.abort(failure);
  }

  #fail(failure: GatewayError): void {
    // A call that its caller cancelled says nothing about the upstream.
    if (this.#plan.signal?.aborted !== true) this.#plan.admitted.failed(failure);
    this.#end();
    this.#done.reject(failure);
  }

  #end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#plan.signal?.removeEventListener('abort', this.#onAbort);
    this.#plan.admitted.leave();
  }
}

/** Decodes UTF-8, without the byte order mark that some systems put before it. */
function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  const text = (chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)).toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** @param raw names and values alternate */
function joined(raw: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    const value = raw[at + 1] as string;
    const before = fields[name];
    fields[name] = before === undefined ? value : before + (name === 'set-cookie' ? '\n' : ', ') + value;
  }
  return fields;
}
