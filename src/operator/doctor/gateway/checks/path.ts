import { pass } from '../../finding.ts';
import { type GatewayCheck, gatewayChecks } from '../check.ts';
import type { ExaminedGateway } from '../gateway.ts';
import { throughWithout } from '../got-through.ts';

/** The parts of which the tricks are made. */
interface Places {
  /** The protected path. */
  readonly path: string;
  /** The same without its first slash. */
  readonly rest: string;
  /** A path that needs no token, without a trailing slash, and `/..` as often as it takes to leave it. */
  readonly open: string;
  readonly up: string;
  /** `/..` as often as it takes to leave the protected path. */
  readonly leave: string;
  readonly host: string;
}

/** Whether a path can be written so that the gateway takes it for another one. */
export const PATHS: readonly GatewayCheck[] = gatewayChecks(['echo', 'refused'], {
  'path.dot-segments': {
    title: 'Dot segments do not lead to the path',
    reference: 'RFC 3986 section 5.2.4; GHSA-p224-6x5r-fjpm (Oathkeeper)',
    fix: 'Refuse dot segments, encoded or not, with 400; or remove them before you judge, and forward exactly what was judged. Never judge the normalised path and forward the raw one, or the reverse.',
    run: tried(({ path, open, up, leave }) => [
      `${open}${up}${path}`,
      `${open}/x/..${up}${path}`,
      `/.${path}`,
      `${open}${up.replaceAll('..', '%2e%2e')}${path}`,
      `${open}${up.replaceAll('..', '.%2E')}${path}`,
      `${path}${leave}${open}`,
      `${path}${leave.replaceAll('..', '%2e%2e')}${open}`,
    ]),
  },
  'path.slashes': {
    title: 'Slashes and backslashes do not hide the path',
    reference: 'RFC 3986 section 3.3; CWE-22',
    fix: 'Refuse //, %2F, \\ and %5C in paths with 400, and protect the path with and without a trailing slash.',
    run: tried(({ path, rest, open, up, leave }) => [
      `/${path}`,
      `//${path}`,
      `${open}/${up}${path}`,
      `${path}/`,
      `${path}//`,
      `/%2f${rest}`,
      `/\\${rest}`,
      `/%5c${rest}`,
      `${open}${up}%2f${rest}`,
      `${open}${up.replaceAll('/', '%2f')}${path}`,
      `${open}${up.replaceAll('/', '\\')}\\${rest}`,
      `${open}${up.replaceAll('/', '%5c')}%5c${rest}`,
      `${path}${leave.replaceAll('/', '%2f')}${open}`,
      `${path}${leave.replaceAll('/', '%2F')}%2f${open.slice(1)}`,
    ]),
  },
  'path.encoded': {
    title: 'Encoding does not hide the path',
    reference: 'RFC 3986 section 6.2.2.2; GHSA-r9fw-vxmp-hwf2 (heimdall), GHSA-9g5w-hqr3-w2ph (Envoy)',
    fix: 'Compare decoded paths, and refuse what is encoded twice, in overlong UTF-8 or in no UTF-8 at all with 400. Let nothing re-encode the path between the judgement and the backend.',
    run: tried(({ path, rest, open, up }) => [
      `/${encoded(rest[0])}${rest.slice(1)}`,
      `/${encoded(rest[0]).toUpperCase()}${rest.slice(1)}`,
      `/${[...rest].map(encoded).join('')}`,
      `/${encoded(rest[0]).replace('%', '%25')}${rest.slice(1)}`,
      `${open}${up.replaceAll('..', '%252e%252e')}${path}`,
      `${open}${up.replaceAll('..', '%c0%ae%c0%ae')}${path}`,
      `${open}${up.replaceAll('/', '%c0%af')}${path}`,
      `${path}/%ff`,
      `${path}/\xff`,
      `${path}/%zz`,
      `${open}/%ff${up}/..${path}`,
    ]),
  },
  'path.parameters': {
    title: 'Path parameters do not hide the path',
    reference: 'RFC 3986 section 3.3; CVE-2026-73551, CVE-2026-73553, CVE-2026-73511 (Envoy)',
    fix: 'Refuse ; and %3B in paths with 400, unless your site uses them: Java servers cut parameters off, and read /open/..;x=1/path as /path.',
    run: tried(({ path, open, up }) => [
      `${open}${up.replaceAll('..', '..;')}${path}`,
      `${open}${up.replaceAll('..', '..;x=y')}${path}`,
      `${open}${up.replaceAll('..', '%2e%2e;x')}${path}`,
      `/;${path}`,
      `/;x=1${path}`,
      `/.;x${path}`,
      `${path};x=1`,
      `${path};/x`,
      `${path}%3bx`,
    ]),
  },
  'path.truncated': {
    title: 'Nothing behind the path changes what it is taken for',
    reference: 'RFC 9112 section 3.2; GHSA-pxq7-h93f-9jrg (oauth2-proxy)',
    fix: 'Refuse # and control characters in paths with 400, encoded ones too, and compare paths to their end: some servers cut a path at such a character.',
    run: tried(({ path, open }) => [
      `${path}#${open}`,
      `${path}#/..${open}`,
      `${open}#/..${path}`,
      `${path}%23${open}`,
      `${path}%00`,
      `${path}%00${open}`,
      `${path}%0a`,
      `${path}%0d%0a${open}`,
      `${path}%09`,
      `${path}%20`,
      `${path}.`,
    ]),
  },
  'path.absolute': {
    title: 'A target in absolute form is judged, too',
    reference: 'RFC 9112 section 3.2.2',
    fix: 'Judge the path of targets such as "GET http://host/path", or refuse them with 400.',
    run: tried(({ path, host }) => [
      `http://${host}${path}`,
      `HTTP://${host}${path}`,
      `https://${host}${path}`,
      `http://doctor.invalid${path}`,
      `http://${host}//${path.slice(1)}`,
    ]),
  },
});

/** Sends targets without a token. */
function tried(write: (places: Places) => readonly string[]): GatewayCheck['run'] {
  return async (gateway) => {
    const targets = write(placesOf(gateway));
    const problems = await throughWithout(
      gateway,
      targets.map((target) => [`GET ${target} without a token`, { target }] as const),
    );
    return problems.length > 0 ? problems : pass(`${targets.length} spellings, none got through`);
  };
}

function placesOf({ echoPath, openPath, host }: ExaminedGateway): Places {
  // The root has no name that could be left.
  const open = openPath.replace(/\/+$/, '') || '/doctor';
  return {
    path: echoPath,
    rest: echoPath.slice(1),
    open,
    up: open.replace(/\/[^/]*/g, '/..'),
    leave: echoPath.replace(/\/[^/]*/g, '/..'),
    host,
  };
}

function encoded(letter = ''): string {
  return `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
