import { checkEach, failure } from '../../finding.ts';
import { gatewayChecks } from '../facts.ts';
import type { ExaminedGateway } from '../gateway.ts';
import { noneGetsThrough, unmarked } from '../got-through.ts';

/** Whether a path can be written so that the gateway takes it for another one. */
export const PATHS = gatewayChecks(['carrier', 'refused'], {
  'path.dot-segments': tried(({ path, open, up, leave }) => [
    `${open}${up}${path}`,
    `${open}/x/..${up}${path}`,
    `/.${path}`,
    `${open}${up.replaceAll('..', '%2e%2e')}${path}`,
    `${open}${up.replaceAll('..', '.%2E')}${path}`,
    `${path}${leave}${open}`,
    `${path}${leave.replaceAll('..', '%2e%2e')}${open}`,
  ]),
  'path.slashes': tried(({ path, rest, open, up, leave }) => [
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
  'path.encoded': tried(({ path, rest, open, up }) => [
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
  'path.parameters': tried(({ path, open, up }) => [
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
  'path.truncated': tried(({ path, open }) => [
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
  'path.absolute': tried(({ path, host }) => [
    `http://${host}${path}`,
    `HTTP://${host}${path}`,
    `https://${host}${path}`,
    `http://doctor.invalid${path}`,
    `http://${host}//${path.slice(1)}`,
  ]),
});

/** Plain targets, whose escapes mean what they say. */
const ESCAPED = ['/a%20b', '/a%40b', '/a%26b', '/caf%C3%A9', '/x?a=%2F%26&b=%20'];

/** Whether the backend receives each path as the client sent it. A refused one is not forwarded. */
export const FORWARDED_PATHS = gatewayChecks(['carrier'], {
  'path.forwarded': ({ carrier: { request }, echoPath, send }) =>
    checkEach(`${ESCAPED.length} paths with escapes`, ESCAPED, async (end) => {
      const target = (request.target ?? echoPath) + end;
      const { echoes } = await send({ ...request, target });
      const other = echoes.map((one) => unmarked(one.target)).find((received) => received !== target);
      return other !== undefined && failure(`GET ${target} reached the backend as ${other}`);
    }),
});

/** Sends targets without a token. */
function tried(write: (places: ReturnType<typeof placesOf>) => readonly string[]) {
  return (gateway: ExaminedGateway) => {
    const requests = write(placesOf(gateway)).map((target) => [`GET ${target} without a token`, { target }] as const);
    return noneGetsThrough(gateway, `${requests.length} spellings, none got through`, requests);
  };
}

/** The parts of which the tricks are made. */
function placesOf({ echoPath, openPath, host }: ExaminedGateway) {
  // The root has no name that could be left.
  const open = openPath.replace(/\/+$/, '') || '/doctor';
  return {
    /** The protected path. */
    path: echoPath,
    /** The same without its first slash. */
    rest: echoPath.slice(1),
    /** A path that needs no token, without a trailing slash, and `/..` as often as it takes to leave it. */
    open,
    up: open.replace(/\/[^/]*/g, '/..'),
    /** `/..` as often as it takes to leave the protected path. */
    leave: echoPath.replace(/\/[^/]*/g, '/..'),
    host,
  };
}

function encoded(letter = ''): string {
  return `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
