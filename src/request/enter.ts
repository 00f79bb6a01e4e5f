import { GatewayError, renderFailure } from '../errors.ts';
import { challengeAnswer, setFields, writeAnswer } from '../http/answer.ts';
import type { ReplacedRequest } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import { SESSION_OVER, type SessionOver, unauthorized } from '../oauth/challenge.ts';
import { schemeOf } from '../oauth/credentials.ts';
import { ANONYMOUS, type Principal } from '../oauth/principal.ts';
import type { ObservedRefusal } from '../operations/observe/observations.ts';
import type { Decision, Presented, Protection } from '../resource-server/gate.ts';
import type { SentBody } from '../roles/course-in-request.ts';
import { CORS_FIELDS } from './cors.ts';
import type { Incoming } from './incoming.ts';
import { admitsAlike } from './other-method.ts';
import type { RequestParts } from './parts.ts';
import { answerRefusal, presentedBy } from './refusal.ts';
import type { Route } from './route.ts';
import { toSite } from './to-site.ts';

/** A request at a route that needs a decision of the gate. */
interface Entered {
  readonly parts: RequestParts;
  readonly incoming: Incoming;
  readonly route: Route;
  readonly presented: Presented;
  /** Revocations so far, when its token was looked up. */
  readonly revocations: number;
}

/** Handles a request at its route: gate, rate limits, handler. Waits only for what is a promise. */
export function enter(parts: RequestParts, incoming: Incoming, route: Route): Promise<void> | undefined {
  const { protection } = route;
  if (protection === 'public') return handle(parts, incoming, route, ANONYMOUS);
  const presented = presentedBy(parts.origin, incoming.request, incoming.target);
  const entered = { parts, incoming, route, presented, revocations: parts.openAnswers.revocations() };
  const decision = parts.gate(presented, protection);
  return decision instanceof Promise ? decision.then((known) => follow(entered, known)) : follow(entered, decision);
}

/** Refuses the request or admits it, as the gate has decided; in observe mode it may go to the site instead. */
function follow(entered: Entered, decision: Decision): Promise<void> | undefined {
  const { parts, incoming, route, presented } = entered;
  const { request, response, record } = incoming;
  const observed = observedRefusal(entered, decision);
  if (observed !== undefined && observed !== 'none') return toSite(parts, incoming, observed, route);
  if (decision.kind === 'refused') {
    setFields(response, ownFieldsOf(incoming, route));
    answerRefusal(parts, incoming, decision, presented, route.limits);
    return undefined;
  }
  noteAdmitted(entered, decision);
  if (observed === 'none')
    parts.observing?.observer.watch(request, response, record, { route: route.entry, refusal: observed });
  return handle(parts, incoming, route, decision.principal);
}

/** The rate limits, the role and the handler, for a request that may have what its route serves. */
function handle(
  parts: RequestParts,
  incoming: Incoming,
  route: Route,
  principal: Principal,
): Promise<void> | undefined {
  const { request, response, target, record, inFlight } = incoming;
  const { admission } = parts;
  const { provenance } = record;
  const { role } = route;
  const ownFields = ownFieldsOf(incoming, route);
  const left = admission.admit(principal, provenance.clientAddress, inFlight, route.limits);
  // A cached public response would soon have outdated limits.
  if (left !== undefined && route.protection !== 'public') ownFields.push(...left);
  if (route.attempts === true) admission.attempt(provenance.clientAddress, response);

  if (role === undefined) return run(parts, incoming, route, principal, ownFields);
  // A route that needs a role is never served without a member.
  if (principal.kind !== 'member') throw new GatewayError('internal');
  const decide = (isHeld: boolean, sent?: SentBody) => {
    if (isHeld) return run(parts, incoming, route, principal, ownFields, sent?.replacement);
    setFields(response, ownFields);
    parts.records.refused(record, 'role', principal);
    // No challenge: no other token of this member would do.
    const refusal = new GatewayError('forbidden', { message: role.refusal });
    writeAnswer(response, renderFailure(refusal, 'problem', provenance.requestId));
    return undefined;
  };
  const judge = (sent?: SentBody) => {
    const isHeld = role.isHeld(principal, target, request, sent?.courses);
    return isHeld instanceof Promise ? isHeld.then((held) => decide(held, sent)) : decide(isHeld, sent);
  };
  return role.body === undefined ? judge() : role.body.read(request, target.query).then(judge);
}

function run(
  parts: RequestParts,
  incoming: Incoming,
  route: Route,
  principal: Principal,
  ownFields: string[],
  replacement?: ReplacedRequest,
): Promise<void> | undefined {
  const { request, response, target, record } = incoming;
  const { provenance } = record;
  if (route.relays !== true) setFields(response, ownFields);
  if (route.areas !== undefined) record.areas = route.areas;
  const admits = (method: string) => admitsAlike(parts.routing, method, target.path, route, principal);
  const exchange = { request, response, target, principal, provenance, record, ownFields, admits, replacement };
  const handled = route.handler(exchange);
  if (!(handled instanceof Promise)) return undefined;
  return (handled as Promise<SessionOver | undefined>).then((outcome) => {
    if (outcome === SESSION_OVER && route.protection !== 'public')
      answerSessionOver(parts, incoming, route.protection, ownFields);
  });
}

function ownFieldsOf({ record }: Incoming, { cors }: Route): string[] {
  const ownFields = ['x-request-id', record.provenance.requestId];
  if (cors) ownFields.push(...CORS_FIELDS);
  return ownFields;
}

/** Answers that the member must sign in again: the session that the upstream needs is over. */
function answerSessionOver(
  { records }: RequestParts,
  { request, response, record }: Incoming,
  protection: Protection,
  ownFields: readonly string[],
): void {
  setFields(response, ownFields);
  record.noteStep('use', {
    error: 'invalid_token',
    description: 'the member must sign in again',
    detail: SESSION_OVER,
  });
  records.refused(record, SESSION_OVER, undefined);
  const scheme = schemeOf(fieldValues(request.rawHeaders, 'authorization'));
  writeAnswer(response, challengeAnswer(unauthorized(scheme, protection, 'the member must sign in again')));
}

/** Notes the token of a member's request, so that the response is cut off when it is revoked. */
function noteAdmitted(
  { parts: { openAnswers }, incoming: { inFlight, record }, presented: { authorization }, revocations }: Entered,
  { principal, expires }: Extract<Decision, { kind: 'admitted' }>,
): void {
  record.principal = principal;
  record.outcome = principal.kind === 'member' ? 'admitted' : 'anonymous';
  if (principal.kind === 'member' && expires !== undefined)
    openAnswers.hold(inFlight, { authorization, principal, expires, doubted: undefined }, revocations);
}

/**
 * In observe mode, for an observed route: why enforcement would refuse the request; `none` if it would not. A valid
 * token of ours is enforced in any mode, because only apps have one, and no app worked here before the gate did.
 */
function observedRefusal(
  { parts: { observing }, route: { entry }, presented }: Entered,
  decision: Decision,
): ObservedRefusal | undefined {
  if (observing === undefined || entry === undefined || !observing.observer.watches(entry)) return undefined;
  if (decision.kind === 'admitted') return decision.principal.kind === 'member' ? 'none' : 'anonymous';
  if (decision.known) return undefined;
  return presented.authorization.length === 0 ? 'no_token' : 'unknown_token';
}
