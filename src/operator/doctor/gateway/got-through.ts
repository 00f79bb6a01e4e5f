import { checkEach, failure, type Verdict, warning } from '../finding.ts';
import type { Echo, Field } from './echo.ts';
import type { Known } from './facts.ts';
import type { ExaminedGateway, GatewayRequest, Tried } from './gateway.ts';

/**
 * Whether a request without a valid token reached the backend as one for the protected path. `what` describes the
 * request. The verdict rests on what the backend received, never on the status of the response.
 */
export function gotThrough(
  { echoPath }: ExaminedGateway,
  { echoes }: Pick<Tried, 'echoes'>,
  what: string,
): Verdict | undefined {
  for (const { method, target } of echoes) {
    const readers = readersOf(target, echoPath);
    if (readers === undefined) continue;
    const received = `${what} reached the backend as ${method} ${unmarked(target)}`;
    return readers === 'every server'
      ? failure(received)
      : warning(`${received}, which some servers read as ${echoPath}`);
  }
  return undefined;
}

/** Sends requests without a valid token one after the other: none must get through. */
export function noneGetsThrough(
  gateway: ExaminedGateway,
  good: string,
  requests: Iterable<readonly [what: string, request: GatewayRequest]>,
): Promise<readonly Verdict[]> {
  return checkEach(good, requests, async ([what, request]) => gotThrough(gateway, await gateway.send(request), what));
}

/** What the backend received of fields in one request; if none came through, perhaps for the sake of one, each in its own. */
export async function echoesOf(
  { send, carrier }: Known<'carrier'>,
  fields: readonly Field[],
): Promise<readonly Echo[]> {
  const { echoes } = await send({ ...carrier.request, headers: fields });
  const alone: Echo[] = [];
  if (echoes.length === 0)
    for (const field of fields) alone.push(...(await send({ ...carrier.request, headers: [field] })).echoes);
  return [...echoes, ...alone];
}

/** A target without the id of the request. */
export function unmarked(target: string): string {
  return target.replace(/[?&]doctor=[0-9a-f]+-\d+\./, '');
}

/*
 * How servers read a request target. A gateway that checks one reading and forwards bytes that the backend reads
 * otherwise lets requests through that it did not check.
 */

/** Who would read a target as the protected path, or a path below it. */
type Readers = 'every server' | 'some servers';

/** Who reads `target` as the protected path, whatever the gateway took it for. */
export function readersOf(target: string, protectedPath: string): Readers | undefined {
  const path = pathOf(target);
  const isProtected = (read: string) => read === protectedPath || read.startsWith(`${protectedPath}/`);
  if (isProtected(commonReading(path))) return 'every server';
  // Frameworks that match routes by prefix and remove no dot segments; and the habits of Java, IIS and PHP together.
  return isProtected(path) || isProtected(lenientReading(path)) ? 'some servers' : undefined;
}

/** The path of a target in origin-form or absolute-form (RFC 9112 section 3.2), without query and fragment. */
function pathOf(target: string): string {
  return target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
}

/** RFC 3986 section 6.2.2, and repeated slashes as one. */
function commonReading(path: string): string {
  const decoded = path.replace(/%([46][1-9a-f]|[57][0-9a]|3[0-9]|2[de]|5f|7e)/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return withoutDotSegments(decoded.replace(/\/{2,}/g, '/'));
}

/** What some servers make of a path: decoded twice, without parameters, with \ as /, and cut at a space or control character. */
function lenientReading(path: string): string {
  const decoded = decodedOnce(decodedOnce(path.replace(/%c0%ae/gi, '.').replace(/%c0%af/gi, '/')));
  const cut = decoded.replace(/(?:[^!-\u00ff]|#).*$/s, '').replaceAll('\\', '/');
  return withoutDotSegments(cut.replace(/;[^/]*/g, '').replace(/\/{2,}/g, '/')).replace(/\.+$/, '');
}

function decodedOnce(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** RFC 3986 section 5.2.4. */
function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}
