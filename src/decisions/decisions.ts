// Plugin mode: a gateway asks here about each request to a protected route, and forwards it itself. The steps of a
// request are the same as for one that comes through the public listener; only the handler of its route differs.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { LoadedConfig } from '../config/load.ts';
import { type Answer, asGatewayError, GatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import { withinRequest } from '../http/current-request.ts';
import { fieldValues } from '../http/field-values.ts';
import { type RequestInFlight, requestOf } from '../http/requests-in-flight.ts';
import { isSameSecret } from '../http/same-secret.ts';
import type { Log } from '../operations/log.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import type { RequestParts } from '../request/parts.ts';
import { serve } from '../request/serve.ts';
import type { Target } from '../upstream/target.ts';
import { refuseForged, separateCredentials } from './client-fields.ts';
import type { DecisionResponse } from './decision-response.ts';
import { gatewayFingerprint } from './fingerprint.ts';
import { createForwarding, tellEnvoy } from './forwarding.ts';
import { tellNginx, unpacked } from './nginx-answer.ts';
import { familyAt, type OriginalRequest, readOriginal } from './original-request.ts';
import { DECISION_FIELDS, DECISION_PATHS } from './protocol.ts';

/** Names in lower case. */
const [SECRET, CONFIG, ANSWER] = [DECISION_FIELDS.secret, DECISION_FIELDS.config, DECISION_FIELDS.answer].map((name) =>
  name.toLowerCase(),
) as [string, string, string];

/** Answers decision requests. */
export type Decisions = (request: IncomingMessage, response: DecisionResponse) => void;

/** `parts` has the routes that gateways may ask about, and no site. */
export function createDecisions(
  { clock, log }: { readonly clock: () => number; readonly log: Pick<Log, 'warn'> },
  { config, secrets }: Pick<LoadedConfig, 'config' | 'secrets'>,
  parts: RequestParts,
): Decisions {
  // Undefined: everyone who can reach the listener may ask.
  const secret = secrets.get('listen.decisions.secret');
  const fingerprint = gatewayFingerprint(config);
  const forwardingOf = createForwarding(config);
  const throttled = createLogThrottle({ clock, lines: 10, apart: 60_000 });
  const { inFlight, records, connections, admission, provenanceOf, origin } = parts;
  const atTheEnd = [records.over, connections.over, admission.over, inFlight.closed];
  const warn = (key: string, message: string): void =>
    throttled(key, (suppressed) => log.warn({ suppressed }, message));

  const mayAsk = (given: readonly string[], of: readonly string[]): boolean => {
    if (secret !== undefined && !(given.length === 1 && isSameSecret(given[0] as string, secret))) {
      warn('secret', 'a gateway was refused: it sent another secret than listen.decisions.secret, or none');
      return false;
    }
    if (of.length !== 1 || of[0] !== fingerprint)
      warn('stale', 'the configuration of a gateway is out of date: generate it again with coursegate snippets');
    return true;
  };

  /** Decides about what `read` makes of a request, which may throw a GatewayError. The response tells the result. */
  const decide = (
    request: IncomingMessage,
    response: DecisionResponse,
    one: RequestInFlight,
    read: () => OriginalRequest,
  ): void => {
    inFlight.take(one, atTheEnd);
    const provenance = provenanceOf(request);
    const failed = (thrown: unknown): void => {
      const failure = asGatewayError(thrown);
      const { requestId } = provenance;
      records.failed(records.begin(one, provenance), failure);
      response.setHeader('x-request-id', requestId);
      writeAnswer(response, renderFailure(failure, 'problem', { requestId, traceId: provenance.traceId() }));
    };
    let target: Target;
    try {
      const original = read();
      target = original.target;
      request.method = original.method;
      request.url = target.path + target.query;
    } catch (thrown) {
      failed(thrown);
      return;
    }
    const userAgent = request.headers['user-agent'] ?? '';
    const work = withinRequest({ provenance, userAgent, inFlight: one }, () =>
      serve(parts, one, response, provenance, target),
    );
    if (work !== undefined) inFlight.hold(work);
  };

  return (request, response) => {
    const { rawHeaders, url = '' } = request;
    const sent = (name: string) => fieldValues(rawHeaders, name);
    const allowed = mayAsk(sent(SECRET), sent(CONFIG));
    const family = familyAt(url);
    const one = requestOf(response);
    // Without a family it is a mistake of the operator, if not nginx with an answer for its client: nothing passes.
    if (!allowed || family === undefined) {
      inFlight.take(one, [inFlight.closed]);
      const given = allowed && url === DECISION_PATHS.answer ? sent(ANSWER) : [];
      writeAnswer(response, keptAnswer(given));
      return;
    }
    if (family === 'nginx') response.tell = tellNginx;
    if (family === 'envoy') {
      response.tell = tellEnvoy(one, forwardingOf);
      request.rawHeaders = separateCredentials(rawHeaders);
    }
    decide(request, response, one, () => {
      // Envoy is told to remove such fields. What any other gateway asks about with one, it would forward with it.
      if (family !== 'envoy') refuseForged(rawHeaders);
      return readOriginal(family, request, origin);
    });
  };
}

/** The answer to a refused request, which nginx brings back for the client; a 503 if there is none. */
function keptAnswer(sent: readonly string[]): Answer {
  const answer = sent.length === 1 ? unpacked(sent[0] as string) : undefined;
  return answer ?? renderFailure(new GatewayError('store_unavailable'), 'problem', randomUUID());
}
