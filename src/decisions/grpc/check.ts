import { randomUUID } from 'node:crypto';
import type { Server } from 'node:net';
import type { handleUnaryCall, Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { GatewayError } from '../../errors.ts';
import { fieldValues } from '../../http/field-values.ts';
import { type RequestsInFlight, requestOf } from '../../http/requests-in-flight.ts';
import { type Decided, DecisionResponse } from '../decision-response.ts';
import type { Decisions } from '../decisions.ts';
import { original } from '../original-request.ts';
import { DECISION_FIELDS } from '../protocol.ts';
import { type CheckRequest, requestFrom } from './check-request.ts';
import { admission, type CheckResponse, refusal, unavailable } from './check-response.ts';

export interface CheckOptions {
  readonly server: Server;
  readonly inFlight: RequestsInFlight;
  readonly decisions: () => Decisions;
  /** Our public origin. */
  readonly origin: string;
  /** Seconds after which a request is refused with 503 if there is no decision. */
  readonly answerWithin: number;
}

type Call = ServerUnaryCall<CheckRequest, CheckResponse>;

/**
 * Answers Authorization/Check: each call is one decision. Every failure is a refusal with 503, so that Envoy never takes
 * one for a permission.
 */
export function checkHandler(options: CheckOptions): handleUnaryCall<CheckRequest, CheckResponse> {
  return (call, callback) => {
    try {
      check(options, call, (response) => callback(null, response));
    } catch {
      callback(null, unavailable(randomUUID()));
    }
  };
}

function check({ server, inFlight, decisions, origin, answerWithin }: CheckOptions, call: Call, give: Give): void {
  const { decide, forwardingOf, mayAsk } = decisions();
  const request = requestFrom(call.request);
  const response = new DecisionResponse(request);
  inFlight.begin(server, request, response);
  const one = requestOf(response);
  const answer = once((message: CheckResponse | undefined) => {
    clearTimeout(late);
    if (message !== undefined) give(message);
    // Later than the status of the response, which its end steps report. It has no connection that would close it.
    queueMicrotask(() => response.emit('close'));
  });
  const giveUp = (): void => {
    // For the end steps: the response itself has no status.
    one.tunnelStatus = 503;
    answer(unavailable(randomUUID()));
  };
  const late = setTimeout(giveUp, answerWithin * 1000);
  // Envoy waits no longer, or its client has left.
  call.on('cancelled', () => {
    response.destroy();
    answer(undefined);
  });
  response.tell = (decided, send) => {
    // Nothing is sent: this marks the response as written.
    send(200, {}, '');
    answer(messageFor(decided, (fields) => admission(forwardingOf(one, fields))));
  };
  try {
    const given = (name: string) => sent(call.metadata, request.rawHeaders, name);
    if (!mayAsk(given(DECISION_FIELDS.secret), given(DECISION_FIELDS.config))) {
      giveUp();
      return;
    }
    decide(request, response, one, () => {
      const { method = '', url = '' } = request;
      const [host, ...others] = fieldValues(request.rawHeaders, 'host');
      if (method === '' || url === '' || host === undefined) throw new GatewayError('store_unavailable');
      return original(method, others.length === 0 ? host : '', url, origin);
    });
  } catch {
    giveUp();
  }
}

type Give = (message: CheckResponse) => void;

function once<T>(work: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    work(value);
  };
}

function messageFor(decided: Decided, admitted: (fields: readonly string[]) => CheckResponse): CheckResponse {
  try {
    return decided.kind === 'admitted' ? admitted(decided.fields) : refusal(decided.answer);
  } catch {
    return unavailable(randomUUID());
  }
}

/**
 * What a gateway sends as metadata. One that can send none adds it to the fields of the request, from which it is then
 * removed like all that are not for the upstream.
 */
function sent(metadata: Metadata, rawHeaders: readonly string[], name: string): readonly string[] {
  const field = name.toLowerCase();
  return [...metadata.get(field).map(String), ...fieldValues(rawHeaders, field)];
}
