import { challengeAnswer, setFields, writeAnswer } from '../http/answer.ts';
import { fieldValues } from '../http/field-values.ts';
import { SESSION_OVER, unauthorized } from '../oauth/challenge.ts';
import { schemeOf } from '../oauth/credentials.ts';
import { ANONYMOUS, type Principal } from '../oauth/principal.ts';
import type { Refusal } from '../operations/observe/observations.ts';
import type { Decision, Presented } from '../resource-server/gate.ts';
import { CORS_FIELDS } from './cors.ts';
import { admitsAlike } from './other-method.ts';
import type { Incoming, RequestParts } from './parts.ts';
import { answerRefusal, presentedBy } from './refusal.ts';
import type { Route } from './route.ts';
import { toSite } from './to-site.ts';

/** Handles a request at its route: gate, rate limits, handler. */
export async function enter(parts: RequestParts, incoming: Incoming, route: Route): Promise<void> {
  const { request, response, target, record } = incoming;
  const { admission } = parts;
  const { provenance } = record;
  const ownFields = ['x-request-id', provenance.requestId];
  if (route.cors) ownFields.push(...CORS_FIELDS);

  let principal: Principal = ANONYMOUS;
  if (route.protection !== 'public') {
    const presented = presentedBy(parts.origin, request, target);
    const revocations = parts.openAnswers.revocations();
    const pending = parts.gate(presented, route.protection);
    // A cached token is decided at once, within this turn of the event loop.
    const decision = pending instanceof Promise ? await pending : pending;
    const observed = observedRefusal(parts, decision, presented, route);
    if (observed !== undefined && observed !== 'none') return toSite(parts, incoming, observed, route);
    if (decision.kind === 'refused') {
      setFields(response, ownFields);
      return answerRefusal(parts, incoming, decision, presented, route.limits);
    }
    principal = decision.principal;
    noteAdmitted(parts, incoming, decision, presented, revocations);
    if (observed === 'none')
      parts.observing?.observer.watch(request, response, record, { route: route.entry, refusal: observed });
  }

  const left = admission.admit(principal, provenance.clientAddress, response, route.limits);
  // A cached public response would soon have outdated limits.
  if (left !== undefined && route.protection !== 'public') ownFields.push(...left);
  if (route.attempts === true) admission.attempt(provenance.clientAddress, response);

  if (route.relays !== true) setFields(response, ownFields);
  if (route.areas !== undefined) record.areas = route.areas;
  const admits = (method: string) => admitsAlike(parts.routing, method, target.path, route, principal);
  const refusal = await route.handler({ request, response, target, principal, provenance, record, ownFields, admits });
  if (refusal !== SESSION_OVER || route.protection === 'public') return;
  setFields(response, ownFields);
  parts.records.refused(record, refusal, undefined);
  const scheme = schemeOf(fieldValues(request.rawHeaders, 'authorization'));
  writeAnswer(response, challengeAnswer(unauthorized(scheme, route.protection, 'the member must sign in again')));
}

/** Registers the response, so that it is cut off when its token is revoked. */
function noteAdmitted(
  { openAnswers }: RequestParts,
  { response, record }: Incoming,
  { principal, expires }: Extract<Decision, { kind: 'admitted' }>,
  { authorization }: Presented,
  revocations: number,
): void {
  record.principal = principal;
  record.outcome = principal.kind === 'member' ? 'admitted' : 'anonymous';
  if (principal.kind === 'member' && expires !== undefined)
    openAnswers.hold({ response, authorization, principal, expires }, revocations);
}

/**
 * In observe mode, for an observed route: why enforcement would refuse the request; `none` if it would not. A valid
 * token of ours is enforced in any mode, because only apps have one, and no app worked here before the gate did.
 */
function observedRefusal(
  { observing }: RequestParts,
  decision: Decision,
  presented: Presented,
  { entry }: Route,
): Refusal | undefined {
  if (observing === undefined || entry === undefined || !observing.observer.watches(entry)) return undefined;
  if (decision.kind === 'admitted') return decision.principal.kind === 'member' ? 'none' : 'anonymous';
  if (decision.known) return undefined;
  return presented.authorization.length === 0 ? 'no_token' : 'unknown_token';
}
