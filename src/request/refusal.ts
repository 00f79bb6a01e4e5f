import type { IncomingMessage } from 'node:http';
import { challengeAnswer, writeAnswer } from '../http/answer.ts';
import { fieldValues } from '../http/field-values.ts';
import type { RouteLimits } from '../limits/admission.ts';
import type { Decision, Presented } from '../resource-server/gate.ts';
import type { Target } from '../upstream/target.ts';
import type { Incoming, RequestParts } from './parts.ts';

/** The credentials that a request presents to the gate. */
export function presentedBy(origin: string, request: IncomingMessage, target: Target): Presented {
  return {
    authorization: fieldValues(request.rawHeaders, 'authorization'),
    dpop: fieldValues(request.rawHeaders, 'dpop'),
    method: request.method ?? '',
    url: origin + target.path,
  };
}

/** Answers with the challenge of a refusal, which is recorded and counts against the limits of the address. */
export function answerRefusal(
  { records, admission }: Pick<RequestParts, 'records' | 'admission'>,
  { response, record }: Pick<Incoming, 'response' | 'record'>,
  { challenge, principal }: Extract<Decision, { kind: 'refused' }>,
  { authorization }: Presented,
  limits: RouteLimits | undefined,
): void {
  records.refused(record, authorization.length === 0 ? 'no_token' : challenge.error, principal);
  admission.refuse(record.provenance.clientAddress, limits);
  writeAnswer(response, challengeAnswer(challenge));
}
