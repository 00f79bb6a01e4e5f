import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, writeAnswer } from '../http/answer.ts';
import { fieldValues } from '../http/field-values.ts';
import { type Challenge, formatChallenge } from '../oauth/challenge.ts';
import type { Decision, Presented } from '../resource-server/gate.ts';
import type { Target } from '../upstream/target.ts';

/** The credentials that a request presents to the gate. */
export function presentedBy(origin: string, request: IncomingMessage, target: Target): Presented {
  return {
    authorization: fieldValues(request, 'authorization'),
    dpop: fieldValues(request, 'dpop'),
    method: request.method ?? '',
    url: origin + target.path,
  };
}

/** Answers 401 or 403 with the challenge in `WWW-Authenticate` (RFC 6750 section 3). */
export function writeChallenge(response: ServerResponse, challenge: Challenge): void {
  const body = { error: challenge.error, error_description: challenge.description };
  const headers = { 'www-authenticate': formatChallenge(challenge), 'cache-control': 'no-store' };
  writeAnswer(response, json(challenge.status, body, headers));
}

/** The reason for a refusal, as used in the access log and the metrics. */
export function reasonOf({ challenge }: Extract<Decision, { kind: 'refused' }>, { authorization }: Presented): string {
  return authorization.length === 0 ? 'no_token' : challenge.error;
}
