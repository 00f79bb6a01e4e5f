import { proven } from '../../support/proof.ts';
import type { Asked } from './ask.ts';
import type { PluginWorld } from './plugin-world.ts';
import type { Tokens } from './tokens.ts';

type Request = Omit<Asked, 'host'> & { readonly host?: string };

/** How a gateway differs from the gate as a proxy, and why. */
export interface Difference {
  readonly why: string;
  /** The status may be one of these, and the rest of the answer differs. The backend receives nothing, or `seen`. */
  readonly status?: readonly number[];
  readonly seen?: number;
  /** Request fields that the backend gets in addition. */
  readonly fields?: readonly string[];
}

export interface Case {
  readonly name: string;
  /** One after the other. The answers to all of them are compared. */
  readonly requests: (tokens: Tokens, world: PluginWorld) => Promise<readonly Request[]> | readonly Request[];
  /** The status of the gate's answers as a proxy, so that a mistake in a case cannot pass for agreement. */
  readonly statuses: readonly number[];
  readonly differs?: Difference;
}

const bearer = (token: string) => `Authorization: Bearer ${token}`;
const JSON_TYPE = 'Content-Type: application/json';
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded';

/** A request with a DPoP proof for it. */
async function withProof(
  { bound, key }: Tokens,
  { origin }: PluginWorld,
  method: string,
  target: string,
  url = target,
) {
  const { authorization = '', dpop = '' } = await proven(key, bound, method, origin + url);
  return { method, target, fields: [`Authorization: ${authorization}`, `DPoP: ${dpop}`] };
}

const plain = (name: string, status: number, request: (tokens: Tokens) => Request): Case => ({
  name,
  statuses: [status],
  requests: (tokens) => [request(tokens)],
});

const BACKENDS_401 = 'a 401 of the backend, about which the app can do nothing';

/** The one case whose answer comes from the gate as a proxy. */
export const FORWARDED_BY_US = 'a route that the gate forwards';

const ADMITTED: readonly Case[] = [
  plain('a valid token', 200, ({ member }) => ({ target: '/member/x?a=1&b=%2F&c', fields: [bearer(member)] })),
  plain('a valid token, with a path in escapes', 200, ({ member }) => ({
    target: '/member/caf%C3%A9/a%20b%23',
    fields: [bearer(member)],
  })),
  plain('HEAD', 200, ({ member }) => ({ method: 'HEAD', target: '/reading/x', fields: [bearer(member)] })),
  plain('DELETE', 200, ({ member }) => ({ method: 'DELETE', target: '/member/x', fields: [bearer(member)] })),
  plain('POST of JSON', 200, ({ member }) => ({
    method: 'POST',
    target: '/member/x',
    fields: [bearer(member), JSON_TYPE],
    body: '{"a":"\xc3\xa9"}',
  })),
  plain('PUT in chunks', 200, ({ member }) => ({
    method: 'PUT',
    target: '/member/x',
    fields: [bearer(member), JSON_TYPE],
    chunks: ['{', '}'],
  })),
  plain('the fields of a request', 200, ({ member }) => ({
    target: '/member/x',
    fields: [
      ...[
        bearer(member),
        'Accept: application/json',
        'Accept-Language: de',
        'If-None-Match: "x"',
        'Origin: https://a.test',
      ],
      ...['X-Allowed: yes', 'X-Unknown: no', 'Cookie: school=m-2', 'Prefer: a', 'Range: bytes=0-1', 'User-Agent: Test'],
    ],
  })),
  plain('an anonymous request', 200, () => ({ target: '/public/x?y' })),
  plain('a token where none is needed', 200, ({ member }) => ({ target: '/public/x', fields: [bearer(member)] })),
  plain('the path of the member’s own record', 200, ({ member }) => ({
    target: '/own/m-1/orders',
    fields: [bearer(member)],
  })),
  plain(BACKENDS_401, 403, ({ member }) => ({
    target: '/member/unauthorized',
    fields: [bearer(member)],
  })),
  plain(FORWARDED_BY_US, 200, ({ member }) => ({ target: '/through/x', fields: [bearer(member)] })),
  {
    name: 'DPoP, and the same proof again',
    statuses: [200, 401],
    requests: async (tokens, world) => {
      const request = await withProof(tokens, world, 'GET', '/member/x');
      return [request, request];
    },
  },
];

/** Paths that some gateways resolve. */
const CLEANED = ['/member//x', '/member/./x', '/member/%2e%2e/x'];

const REFUSED: readonly Case[] = [
  plain('no token', 401, () => ({ target: '/member/x' })),
  plain('no token, for a page', 401, () => ({ target: '/member/x', fields: ['Accept: text/html'] })),
  ...['Bearer %%%', 'Bearer', 'Bearer a b', 'Basic YTpi', 'DPoP x'].map((value) =>
    plain(`Authorization: ${value}`, 401, () => ({
      target: '/member/x',
      fields: [`Authorization: ${value}`],
    })),
  ),
  plain('two tokens', 401, ({ member }) => ({ target: '/member/x', fields: [bearer(member), bearer(member)] })),
  plain('an unknown token', 401, () => ({ target: '/member/x', fields: [bearer('x'.repeat(43))] })),
  plain('a revoked token', 401, ({ revoked }) => ({ target: '/member/x', fields: [bearer(revoked)] })),
  plain('a token for another resource', 401, ({ part }) => ({ target: '/member/x', fields: [bearer(part)] })),
  plain('a token of the whole origin for a part of it', 200, ({ member }) => ({
    target: '/part/x',
    fields: [bearer(member)],
  })),
  plain('a token without the scope', 403, ({ narrow }) => ({ target: '/member/x', fields: [bearer(narrow)] })),
  plain('a bound token as Bearer', 401, ({ bound }) => ({ target: '/member/x', fields: [bearer(bound)] })),
  plain('a bound token without a proof', 401, ({ bound }) => ({
    target: '/member/x',
    fields: [`Authorization: DPoP ${bound}`],
  })),
  {
    name: 'a proof for another method, and for another path',
    statuses: [401, 401],
    requests: async (tokens, world) => [
      { ...(await withProof(tokens, world, 'POST', '/member/x')), method: 'GET' },
      await withProof(tokens, world, 'GET', '/member/x', '/member/y'),
    ],
  },
  plain('the path of another member’s record', 403, ({ member }) => ({
    target: '/own/m-2/orders',
    fields: [bearer(member)],
  })),
  plain('a method that the route does not have', 405, ({ member }) => ({
    method: 'POST',
    target: '/reading/x',
    fields: [bearer(member)],
    body: '{}',
  })),
  plain('another method in the query', 400, ({ member }) => ({
    method: 'POST',
    target: '/posting/x?_method=DELETE',
    fields: [bearer(member), JSON_TYPE],
    body: '{}',
  })),
  plain('an invisible character in the path', 400, ({ member }) => ({
    target: '/member/a%C2%ADb',
    fields: [bearer(member)],
  })),
  plain('another spelling of a route', 404, ({ member }) => ({ target: '/MEMBER/x', fields: [bearer(member)] })),
  ...[...CLEANED, '/member/x;a=b', '/member/x%2fy'].map((target) =>
    plain(`the ambiguous path ${target}`, 400, ({ member }) => ({ target, fields: [bearer(member)] })),
  ),
  plain('a target that is too long', 414, ({ member }) => ({
    target: `/member/${'a'.repeat(8_500)}`,
    fields: [bearer(member)],
  })),
  plain('a preflight', 204, () => ({
    method: 'OPTIONS',
    target: '/member/x',
    fields: ['Origin: https://a.test', 'Access-Control-Request-Method: PUT'],
  })),
  {
    name: 'more requests than a member may send',
    statuses: [200, 200, 429],
    requests: ({ limited }) => Array.from({ length: 3 }, () => ({ target: '/scarce/x', fields: [bearer(limited)] })),
  },
  {
    name: 'more requests than an address may send',
    statuses: [200, 200, 429],
    requests: () => Array.from({ length: 3 }, () => ({ target: '/few/x' })),
  },
];

const DIFFERENT: readonly Case[] = [
  {
    ...plain('a form', 200, ({ member }) => ({
      method: 'POST',
      target: '/member/x',
      fields: [bearer(member), FORM_TYPE],
      body: 'a=b',
    })),
    differs: { status: [415], why: 'the gate does not see the body, in which a backend may look for another method' },
  },
  {
    ...plain('an address that is no route', 404, () => ({ target: '/nowhere' })),
    differs: { status: [200], seen: 1, why: 'it is for the rest of the site, which the gateway has' },
  },
  {
    ...plain('another host', 200, ({ member }) => ({
      target: '/member/x',
      host: 'evil.test',
      fields: [bearer(member)],
    })),
    // Caddy answers requests to unknown hosts with an empty 200.
    differs: { status: [200, 400, 404, 421], why: 'as a proxy, the gate uses its own host whatever the client says' },
  },
];

/** Every challenge, limit and refusal, and what admitted requests look like to the backend. */
export const CASES: readonly Case[] = [...ADMITTED, ...REFUSED, ...DIFFERENT];

const UNFILTERED = {
  fields: ['x-unknown'],
  why: 'it can remove fields by their names, but not pass a list of them only',
};
const RESOLVED = {
  status: [200],
  seen: 1,
  why: 'it resolves the path first, and routes, asks and forwards what it has then',
};
const STATUS_KEPT = { status: [401], seen: 1, why: 'it cannot change the status of a response' };

/** What single gateways do differently, by the name of their file and the name of the case. */
export const DIFFERENCES: Readonly<Record<string, Readonly<Record<string, Difference>>>> = {
  'nginx-auth': {
    'two tokens': { status: [400, 401], why: 'it refuses a repeated Authorization, or refused it before 1.23' },
    [BACKENDS_401]: STATUS_KEPT,
  },
  istio: {
    [BACKENDS_401]: STATUS_KEPT,
    'the ambiguous path /member/./x': RESOLVED,
    'the ambiguous path /member/%2e%2e/x': RESOLVED,
  },
  'caddy-auth': { 'the fields of a request': UNFILTERED, [BACKENDS_401]: STATUS_KEPT },
  'traefik-auth': {
    'the fields of a request': UNFILTERED,
    [BACKENDS_401]: STATUS_KEPT,
    ...Object.fromEntries(CLEANED.map((target) => [`the ambiguous path ${target}`, RESOLVED])),
  },
};

/** Fields of the answers to admitted requests that a gateway sets differently: it can take none from the decision. */
export const ADMITTED_ANSWERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'traefik-auth': {
    ratelimit: [],
    'ratelimit-policy': [],
    'x-request-id': [],
    'cache-control': ['private, no-store'],
  },
};
