import type { IncomingMessage } from 'node:http';
import { fieldValues } from '../http/field-values.ts';
import type { Decision, Presented } from '../resource-server/gate.ts';
import type { Target } from '../upstream/target.ts';

/** The credentials that a request presents to the gate. */
export function presentedBy(origin: string, request: IncomingMessage, target: Target): Presented {
  return {
    authorization: fieldValues(request.rawHeaders, 'authorization'),
    dpop: fieldValues(request.rawHeaders, 'dpop'),
    method: request.method ?? '',
    url: origin + target.path,
  };
}

/** The reason for a refusal, as used in the access log and the metrics. */
export function reasonOf({ challenge }: Extract<Decision, { kind: 'refused' }>, { authorization }: Presented): string {
  return authorization.length === 0 ? 'no_token' : challenge.error;
}
