import { decodeJwt } from 'jose';
import { type StrictRequest, valuesOf } from '../../support/strict-http.ts';
import type { GatewayKind } from './gateway-kind.ts';

/** The names by which backends know a member, folded as lenient ones fold them. The rest of the site knows the first. */
const IDENTITY = /^x-(member-(id|email|name|scope)|client-id|coursegate-assertion)$/;
const ANY_IDENTITY = /^x-(member|member-.*|client-id|coursegate-.*)$/;

const folded = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');

const PROTECTED = /^(?:member|reading|posting|part|own|scarce|through)$/i;

/** Whether some backend may read this target as one of a route that needs a token. */
function isProtected(target: string): boolean {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/]*/i, '').split('?', 1);
  return [0, 1, 2, 3]
    .map((times) => folds(decodedTimes(path, times)).split(/[/\\]/))
    .map((segments) => segments.map(withoutEnd).filter((segment) => segment !== ''))
    .some((segments) => [segments[0], withoutDots(segments)[0]].some((first) => PROTECTED.test(first ?? '')));
}

/** Every escape decoded, as bytes, several times. */
function decodedTimes(path: string, times: number): string {
  if (times === 0) return path;
  const once = path.replace(/%([0-9a-f]{2})/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return decodedTimes(once, times - 1);
}

/** Bytes as text, with overlong ASCII and what Unicode counts as the same (NFKC), and without what is not displayed. */
function folds(bytes: string): string {
  const short = bytes.replace(/[\xc0\xc1][\x80-\xbf]/g, (two) =>
    String.fromCharCode((two.charCodeAt(0) - 0xc0) * 64 + two.charCodeAt(1) - 0x80),
  );
  return Buffer.from(short, 'latin1')
    .toString()
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\ufffd]/gu, '');
}

/** A segment without parameters, and without what ends it for some systems. */
function withoutEnd(segment: string): string {
  return segment
    .replace(/[;\0].*$/s, '')
    .replace(/^(\.*[^.\s]+)[.\s]+$/, '$1')
    .trim();
}

function withoutDots(segments: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const segment of segments)
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  return kept;
}

const isJudged = (target: string) => /^\/(member|reading|posting|part|own|scarce|few|public)\//.test(target);

const isByTheGate = ({ headers }: Pick<StrictRequest, 'headers'>) =>
  valuesOf(headers, 'via').some((via) => via.includes('coursegate-'));

/**
 * A request as the backend behind a gateway understands it. With `identity: [assertion]`, it knows the member by a signed
 * assertion alone. That no plain field of a client comes to a route is examined all the same.
 */
export function asRead(kind: GatewayKind, request: StrictRequest): StrictRequest {
  const { target, headers } = request;
  if (kind.assertionOnly !== true || isByTheGate(request)) return request;
  const subjects = valuesOf(headers, 'x-coursegate-assertion').flatMap((one) => subjectOf(one) ?? []);
  const kept = headers.filter(([name]) => isJudged(target) || !ANY_IDENTITY.test(folded(name)));
  return { ...request, headers: [...kept, ...subjects.map((sub) => ['x-member-id', sub] as [string, string])] };
}

/** Of what is signed: undefined for anything else. */
function subjectOf(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

/**
 * Why a request must not have come through to the backend like this: with an identity that nobody decided about, or to a
 * protected path without a decision about this method and this path. Empty if it may.
 * @param members whose tokens were sent
 */
export function flawsOf(
  { method, target, headers }: StrictRequest,
  origin: string,
  members: readonly string[],
): string[] {
  const judged = isJudged(target);
  const identity = headers.filter(([name]) => (judged ? ANY_IDENTITY : IDENTITY).test(folded(name)));
  const [member, ...more] = valuesOf(headers, 'x-member-id').filter((value) => value !== '');
  const known = member !== undefined && more.length === 0 && members.includes(member);
  const flaws: string[] = [];
  if (isProtected(target) && !known) flaws.push(`${method} ${target} came through as ${member ?? 'nobody'}`);
  if (member !== undefined && !known) flaws.push(`${target} came with the identity ${member}`);
  if (
    identity.some(([name, value]) => value !== '' && (/evil|admin/.test(value) || folded(name) !== name.toLowerCase()))
  )
    flaws.push(`${target} came with a forged identity: ${JSON.stringify(identity)}`);
  if (judged && ['authorization', 'dpop', 'cookie'].some((name) => valuesOf(headers, name).length > 0))
    flaws.push(`${target} came with credentials`);
  // What the gate forwards itself has an assertion that is not about one request.
  if (known && judged && !isByTheGate({ headers }))
    flaws.push(...unbound(method, target, origin, valuesOf(headers, 'x-coursegate-assertion')));
  return flaws;
}

/** The assertion must be for exactly this method and path. */
function unbound(method: string, target: string, origin: string, assertions: readonly string[]): string[] {
  const [assertion = ''] = assertions;
  const { htm, htu, sub } = assertions.length === 1 && assertion !== '' ? decodeJwt(assertion) : {};
  const right = htm === method && htu === origin + (target.split('?', 1)[0] ?? '');
  return right
    ? []
    : [`${method} ${target} came with a decision about ${String(htm)} ${String(htu)} for ${String(sub)}`];
}
