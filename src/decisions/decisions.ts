// Plugin mode: a gateway asks here about each request to a protected route, and forwards it itself. The steps of a
// request are the same as for one that comes through the public listener; only the handler of its route differs.

import type { IncomingMessage } from 'node:http';
import type { LoadedConfig } from '../config/load.ts';
import { asGatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import { withinRequest } from '../http/current-request.ts';
import { fieldValues } from '../http/field-values.ts';
import { requestOf } from '../http/requests-in-flight.ts';
import type { Log } from '../operations/log.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import type { RequestParts } from '../request/parts.ts';
import { serve } from '../request/serve.ts';
import type { Target } from '../upstream/target.ts';
import { refuseForged, separateCredentials } from './client-fields.ts';
import type { DecisionResponse } from './decision-response.ts';
import { gatewayFingerprint } from './fingerprint.ts';
import { createForwarding, tellEnvoy } from './forwarding.ts';
import { type Family, readOriginal } from './original-request.ts';
import { DECISION_FIELDS } from './protocol.ts';

const CONFIG = DECISION_FIELDS.config.toLowerCase();

/** Answers what a gateway asks. */
export type Decisions = (request: IncomingMessage, response: DecisionResponse, family: Family) => void;

/** `parts` has the routes that gateways may ask about, and no site. */
export function createDecisions(
  { clock, log }: { readonly clock: () => number; readonly log: Pick<Log, 'warn'> },
  loaded: Pick<LoadedConfig, 'config' | 'asserts'>,
  parts: RequestParts,
): Decisions {
  const fingerprint = gatewayFingerprint(loaded);
  const forwardingOf = createForwarding(loaded.config);
  const throttled = createLogThrottle({ clock, lines: 10, apart: 60_000 });
  const { inFlight, records, connections, admission, provenanceOf, origin } = parts;
  const atTheEnd = [records.over, connections.over, admission.over, inFlight.closed];

  return (request, response, family) => {
    const { rawHeaders } = request;
    const [of, ...more] = fieldValues(rawHeaders, CONFIG);
    if (of !== fingerprint || more.length > 0)
      throttled('stale', (suppressed) =>
        log.warn(
          { suppressed },
          'the configuration of a gateway is out of date: generate it again with coursegate snippets',
        ),
      );
    const one = requestOf(response);
    inFlight.take(one, atTheEnd);
    const provenance = provenanceOf(request);
    let target: Target;
    try {
      if (family === 'envoy') {
        response.tell = tellEnvoy(one, forwardingOf);
        request.rawHeaders = separateCredentials(rawHeaders);
      }
      // Envoy is told to remove such fields. What any other gateway asks about with one, it would forward with it.
      else refuseForged(rawHeaders);
      const original = readOriginal(family, request, origin);
      target = original.target;
      request.method = original.method;
      request.url = target.path + target.query;
    } catch (thrown) {
      const failure = asGatewayError(thrown);
      const { requestId } = provenance;
      records.failed(records.begin(one, provenance), failure);
      response.setHeader('x-request-id', requestId);
      writeAnswer(response, renderFailure(failure, 'problem', { requestId, traceId: provenance.traceId() }));
      return;
    }
    const userAgent = request.headers['user-agent'] ?? '';
    const work = withinRequest({ provenance, userAgent, inFlight: one }, () =>
      serve(parts, one, response, provenance, target),
    );
    if (work !== undefined) inFlight.hold(work);
  };
}
