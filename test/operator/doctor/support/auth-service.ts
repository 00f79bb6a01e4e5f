import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { posix } from 'node:path';

/** The token that the auth service admits. It opens everything but `/staff`. */
export const TOKEN = 'good-token';

/** What the service is asked about a request. */
interface Asked {
  /** The original request target, from the field of the gateway that asks. */
  readonly uri: string;
  readonly headers: IncomingHttpHeaders;
  readonly authorization: readonly string[];
}

interface Judgement {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const REALM = 'Bearer realm="school"';
const NO_TOKEN: Judgement = { status: 401, headers: { 'www-authenticate': REALM } };
const INVALID: Judgement = { status: 401, headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } };
const FORBIDDEN: Judgement = { status: 403, headers: { 'www-authenticate': `${REALM}, error="insufficient_scope"` } };
/** Admitted without a member: no X-Member-Id at all. */
const ANONYMOUS: Judgement = { status: 200 };

function correct({ uri, authorization }: Asked): Judgement {
  if (authorization.length === 0) return NO_TOKEN;
  if (authorization.length > 1 || authorization[0] !== `Bearer ${TOKEN}`) return INVALID;
  if (uri.startsWith('/staff')) return FORBIDDEN;
  return { status: 200, headers: { 'x-member-id': 'm-1' } };
}

/** A service that admits some requests without looking at the token. */
const admits =
  (when: (asked: Asked) => boolean) =>
  (asked: Asked): Judgement =>
    when(asked) ? ANONYMOUS : correct(asked);

/** Answers like this if the token is longer than any real one. */
const overlong =
  (judgement: Judgement) =>
  (asked: Asked): Judgement =>
    (asked.authorization[0] ?? '').length > 5000 ? judgement : correct(asked);

/** A correct service, and services with the faults of published advisories. */
const SERVICES = {
  correct,
  'open below public': admits(({ uri }) => uri.startsWith('/public')),
  'prefers X-Forwarded-Uri': admits(({ uri, headers }) =>
    String(headers['x-forwarded-uri'] ?? uri).startsWith('/public'),
  ),
  'judges the query': admits(({ uri }) => uri.split('?')[1]?.includes('/public') === true),
  'judges the fragment': admits(({ uri }) => /#.*\/public/.test(uri)),
  'judges the raw prefix': admits(({ uri }) => uri.startsWith('/public/')),
  'judges the decoded path': admits(({ uri }) =>
    posix.normalize(decoded(uri.split('?')[0] ?? '')).startsWith('/public'),
  ),
  'protects only https': admits(({ headers }) => headers['x-forwarded-proto'] === 'http'),
  'opens to localhost': admits(({ headers }) => headers['x-forwarded-host'] === 'localhost'),
  'fails at long tokens': overlong({ status: 500 }),
  'calls long tokens malformed': overlong({ status: 400 }),
  'is busy with long tokens': overlong({ status: 503, headers: { 'retry-after': '5' } }),
} satisfies Record<string, (asked: Asked) => Judgement>;

export type Service = keyof typeof SERVICES;

const slug = (name: string) => name.replaceAll(' ', '-');
const BY_SLUG = new Map(Object.entries(SERVICES).map(([name, judge]) => [slug(name), judge]));

export interface AuthService {
  /** The path at which a gateway of a family asks a service. */
  ask(family: 'nginx' | 'caddy' | 'haproxy', service: Service): string;
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  close(): Promise<void>;
}

/** A small auth service behind a gateway, as schools write them. `/answer/401` is its refusal, for nginx to fetch. */
export async function startAuthService(): Promise<AuthService> {
  const server = createServer({ maxHeaderSize: 65_536 }, ({ url = '', headers, rawHeaders }, response) => {
    const [, family = '', service = ''] = url.split(/[/?]/);
    const field = family === 'caddy' ? 'x-forwarded-uri' : 'x-original-uri';
    const authorization = rawHeaders.filter((_, at) => rawHeaders[at - 1]?.toLowerCase() === 'authorization');
    const judgement =
      family === 'answer'
        ? new Map([
            ['401', INVALID],
            ['403', FORBIDDEN],
          ]).get(service)
        : BY_SLUG.get(service)?.({ uri: String(headers[field] ?? ''), headers, authorization });
    const { status, headers: fields = {} } = judgement ?? { status: 500 };
    response.writeHead(status, { 'content-type': 'application/json', ...fields });
    response.end(status === 200 ? '' : JSON.stringify({ error: 'refused' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    ask: (family, service) => `/${family}/${slug(service)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
