import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../errors.ts';
import { fieldValues } from '../http/field-values.ts';
import { LONGEST_TARGET, parseTarget } from '../upstream/target.ts';
import { DECISION_PATHS } from './protocol.ts';

export type Family = 'nginx' | 'forwardAuth' | 'haproxy' | 'envoy';

/**
 * What the names of the fields begin with in which a family describes the original request. Each reads its own fields
 * only, because clients can send those of another one. Envoy sends the request line.
 */
const FIELDS: Readonly<Record<Exclude<Family, 'envoy'>, string>> = {
  nginx: 'x-original',
  haproxy: 'x-original',
  forwardAuth: 'x-forwarded',
};

function hostField(family: Family): string {
  return family === 'envoy' ? 'host' : `${FIELDS[family]}-host`;
}

/** The host of the original request; undefined unless the gateway names it exactly once. */
export function hostAsked(family: Family, { rawHeaders }: IncomingMessage): string | undefined {
  const hosts = fieldValues(rawHeaders, hostField(family));
  return hosts.length === 1 ? hosts[0] : undefined;
}

const METHOD = /^[A-Z]{1,32}$/;

const FAMILIES: ReadonlyMap<string, Family> = new Map(
  (['nginx', 'forwardAuth', 'haproxy'] as const).map((family) => [DECISION_PATHS[family], family]),
);

/** The family that asks at a request target; its query is ignored. Undefined for any other path. */
export function familyAt(target: string): Family | undefined {
  if (target.startsWith(`${DECISION_PATHS.envoy}/`)) return 'envoy';
  const query = target.indexOf('?');
  return FAMILIES.get(query === -1 ? target : target.slice(0, query));
}

/**
 * Reads what a gateway says about the original request. Throws GatewayError `invalid_request` if the method, host or
 * target is missing, repeated, not ours or not canonical: the gateway forwards the target as it was sent, so what is
 * judged must be that, byte for byte. Throws `uri_too_long`, and `method_not_allowed` for OPTIONS, which gateways send to
 * the public listener.
 * @param origin our public origin, in its canonical form
 * @returns the method, and the target, canonical as it was sent
 */
export function readOriginal(family: Family, request: IncomingMessage, origin: string) {
  const { rawHeaders } = request;
  const field = (name: string): string => {
    const values = fieldValues(rawHeaders, name);
    if (values.length !== 1) throw invalidRequest(`The gateway must send exactly one ${name}.`);
    return values[0] as string;
  };
  const host = field(hostField(family));
  const { method, uri } =
    family === 'envoy'
      ? { method: request.method ?? '', uri: (request.url ?? '').slice(DECISION_PATHS.envoy.length) }
      : { method: field(`${FIELDS[family]}-method`), uri: field(`${FIELDS[family]}-uri`) };
  if (!METHOD.test(method)) throw invalidRequest('The method of this request is not one that is taken here.');
  if (host.toLowerCase() !== origin.slice(origin.indexOf('//') + 2))
    throw invalidRequest('This host is not one that is served here.');
  if (uri.length > LONGEST_TARGET) throw new GatewayError('uri_too_long');
  const target = uri.startsWith('/') ? parseTarget(uri, origin) : undefined;
  if (target === undefined || target.path + target.query !== uri)
    throw invalidRequest('This address is not one that is taken here.');
  if (method === 'OPTIONS') throw new GatewayError('method_not_allowed');
  return { method, target };
}
