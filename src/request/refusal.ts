import type { IncomingMessage } from 'node:http';
import { challengeAnswer, writeAnswer } from '../http/answer.ts';
import { fieldValues } from '../http/field-values.ts';
import { opensPage } from '../http/navigation.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { RouteLimits } from '../limits/admission.ts';
import { type Challenge, challengeIn } from '../oauth/challenge.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import { formatScope } from '../oauth/scope.ts';
import type { Decision, Presented } from '../resource-server/gate.ts';
import type { Target } from '../upstream/target.ts';
import type { Incoming } from './incoming.ts';
import type { RequestParts } from './parts.ts';

/** The credentials that a request presents to the gate. */
export function presentedBy(origin: string, request: IncomingMessage, target: Target): Presented {
  return {
    authorization: fieldValues(request.rawHeaders, 'authorization'),
    dpop: fieldValues(request.rawHeaders, 'dpop'),
    method: request.method ?? '',
    url: origin + target.path,
  };
}

/**
 * Answers with the challenge of a refusal, which is recorded and counts against the limits of the address. A person who
 * opened the address in a browser gets a page with it.
 */
export function answerRefusal(
  { records, admission, appsOnly }: Pick<RequestParts, 'records' | 'admission' | 'appsOnly'>,
  { response, target, record }: Pick<Incoming, 'response' | 'target' | 'record'>,
  { challenge: refusal, principal }: Extract<Decision, { kind: 'refused' }>,
  { authorization }: Presented,
  limits: RouteLimits | undefined,
): void {
  const challenge = challengeIn(response.req.headers['mcp-protocol-version'], refusal);
  noteRefusal(record, target, challenge, principal, authorization.length > 0);
  records.refused(record, authorization.length === 0 ? 'no_token' : challenge.error, principal);
  admission.refuse(record.provenance.clientAddress, limits);
  const answer = challengeAnswer(challenge);
  if (opensPage(response.req)) appsOnly(response, answer);
  else writeAnswer(response, answer);
}

/** Tells the connection recorder what was wrong with a token, or that there was none. */
function noteRefusal(
  record: RequestRecord,
  { query }: Target,
  { error, description, scope }: Challenge,
  principal: MemberPrincipal | undefined,
  presented: boolean,
): void {
  const inQuery = /[?&]access_token=/.test(query);
  record.noteStep(presented ? 'use' : 'challenge', {
    ...{ error, description, clientId: principal?.clientId, grantId: principal?.grantId, member: principal?.sub },
    parameters: { ...(inQuery ? { access_token: 'sent' } : {}), ...(presented ? { scope: formatScope(scope) } : {}) },
  });
}
