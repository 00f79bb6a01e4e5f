import type { Answered, Fault, Passing } from '../../../support/fault-proxy.ts';

/** One broken deployment: what is wrong, and exactly the checks that must report it. */
export interface Broken {
  readonly what: string;
  readonly finds: readonly string[];
  /** Text that the first of them must report. */
  readonly says?: RegExp;
  readonly fault: Fault;
}

const PRM = '/.well-known/oauth-protected-resource';
const RFC8414 = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const [AUTHORIZE, TOKEN, REGISTER] = ['/oauth/authorize', '/api/oauth/token', '/api/oauth/register'] as const;
const USERINFO = '/api/oauth/userinfo';

type Document = Record<string, unknown>;

const at =
  (...paths: string[]) =>
  ({ url }: Passing) =>
    paths.includes(url.pathname);

/** Changes the responses to some requests. */
const back = (when: (passing: Passing) => boolean, change: (answered: Answered, passing: Passing) => void): Fault => ({
  fromGate: (answered, passing) => {
    if (when(passing)) change(answered, passing);
  },
});

/** Answers some requests instead of the gate. */
const instead = (when: (passing: Passing) => boolean, answer: (passing: Passing) => Answered): Fault => ({
  toGate: (passing) => (when(passing) ? answer(passing) : undefined),
});

const document = (paths: string[], change: (document: Document, passing: Passing) => void): Fault =>
  back(at(...paths), (answered, passing) => {
    if (answered.status !== 200) return;
    const body = JSON.parse(answered.body) as Document;
    change(body, passing);
    answered.body = JSON.stringify(body);
  });

const server = (change: (document: Document, passing: Passing) => void) => document([RFC8414, OPENID], change);
const resource = (change: (document: Document, passing: Passing) => void) => document([PRM, `${PRM}/mcp`], change);

const page = (status: number, text: string, headers = {}): Answered => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body: `<!doctype html><html><head><title>${text}</title></head><body>${text}</body></html>`,
});

const json = (status: number, body: unknown, headers = {}): Answered => ({
  status,
  headers: {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
    ...headers,
  },
  body: JSON.stringify(body),
});

/** Accepts any registration that matches. */
const registers = (
  when: (metadata: Document) => boolean,
  change: (metadata: Document) => Document = (all) => all,
): Fault =>
  instead(
    (passing) =>
      passing.method === 'POST' &&
      passing.url.pathname === REGISTER &&
      isMetadata(passing.body) &&
      when(JSON.parse(passing.body)),
    ({ body }) => json(201, { client_id: 'made-up', ...change(JSON.parse(body)) }),
  );

const isMetadata = (body: string) => body.endsWith('}');
const uris = (metadata: Document) => (metadata.redirect_uris as string[] | undefined) ?? [];

/** Changes authorization requests. */
const authorize = (change: (parameters: URLSearchParams) => void): Fault => ({
  toGate: ({ url }) => {
    if (url.pathname === AUTHORIZE) change(url.searchParams);
  },
});

/** Changes error redirects to the app. */
const returned = (change: (parameters: URLSearchParams) => void): Fault =>
  back(at(AUTHORIZE), ({ headers }) => {
    const location = URL.parse(String(headers.location ?? ''));
    if (location === null || !location.href.includes('error=')) return;
    const hash = new URLSearchParams(location.hash.slice(1));
    change(location.searchParams);
    change(hash);
    location.hash = hash.toString();
    headers.location = location.href;
  });

const agent =
  (pattern: RegExp) =>
  ({ headers }: Passing) =>
    pattern.test(headers['user-agent'] ?? '(none)');

const challengeWithout = (name: string): Fault => ({
  fromGate: ({ headers }) => {
    const said = headers['www-authenticate'];
    if (typeof said === 'string') headers['www-authenticate'] = said.replace(new RegExp(`, ${name}="[^"]*"`, 'g'), '');
  },
});

export const BROKEN: readonly Broken[] = [
  {
    what: 'a clock that is an hour ahead',
    finds: ['reach.clock'],
    says: /3\d\d\d seconds ahead/,
    fault: {
      fromGate: ({ headers }) => {
        headers.date = new Date(Date.now() + 3_600_000).toUTCString();
      },
    },
  },
  {
    what: 'a host taken from X-Forwarded-Host',
    finds: ['reach.forwarded-host'],
    says: /with x-forwarded-host: .*with forwarded: host=.*with host: /s,
    fault: back(
      ({ headers, url }) => JSON.stringify(headers).includes('coursegate-doctor.invalid') && url.pathname === RFC8414,
      (answered, { url }) => {
        answered.body = answered.body.replaceAll(`http://${url.host}`, 'https://coursegate-doctor.invalid');
      },
    ),
  },
  {
    what: 'WordPress instead of the metadata',
    finds: ['resource.found', 'resource.path-spelling', 'challenge.resource-metadata'],
    says: /WordPress/,
    fault: instead(
      ({ url }) => url.pathname.startsWith(PRM),
      () => page(404, 'Page not found', { link: '<https://x.example/wp-json/>; rel="https://api.w.org/"' }),
    ),
  },
  {
    what: 'an old copy of the metadata',
    finds: ['server.copy'],
    says: /\/\.well-known\/oauth-authorization-server is a copy with another scopes_supported than the gate.*oauth-protected-resource is a copy with another scopes_supported/s,
    fault: back(at(RFC8414, OPENID, PRM), (answered) => {
      if (answered.status !== 200) return;
      delete answered.headers['x-request-id'];
      const body = JSON.parse(answered.body) as { scopes_supported: string[] };
      body.scopes_supported.pop();
      answered.body = JSON.stringify(body);
    }),
  },
  {
    what: 'a host that blocks paths with a leading dot',
    finds: ['resource.found', 'resource.path-spelling', 'challenge.resource-metadata', 'server.found'],
    says: /forbids it/,
    fault: instead(
      ({ url }) => url.pathname.startsWith('/.well-known/oauth'),
      () => page(403, 'Forbidden'),
    ),
  },
  {
    what: 'a login page in front of the metadata',
    finds: ['resource.found', 'resource.path-spelling', 'resource.no-pages', 'challenge.resource-metadata'],
    says: /a sign-in page/,
    fault: instead(
      ({ url }) => url.pathname.startsWith(PRM),
      ({ url }) => page(302, 'Found', { location: `${url.origin}/login?return_to=x` }),
    ),
  },
  {
    what: 'metadata after the path instead of before it',
    finds: ['resource.found', 'resource.path-spelling', 'challenge.resource-metadata'],
    says: /where no client looks/,
    fault: {
      toGate: ({ url }) => {
        if (url.pathname.startsWith(PRM)) return page(404, 'Not found');
        if (url.pathname === `/mcp${PRM}`) url.pathname = `${PRM}/mcp`;
        return undefined;
      },
    },
  },
  {
    what: 'no metadata for the MCP endpoint',
    finds: ['resource.found', 'resource.path-spelling'],
    fault: {
      toGate: ({ url }) => (url.pathname === `${PRM}/mcp` ? json(404, {}) : undefined),
      fromGate: ({ headers }) => {
        const said = headers['www-authenticate'];
        if (typeof said === 'string') headers['www-authenticate'] = said.replace(`${PRM}/mcp"`, `${PRM}"`);
      },
    },
  },
  {
    what: 'a fallback page for every address',
    finds: ['resource.no-pages'],
    says: /instead of JSON/,
    fault: instead(at(`/mcp${PRM}`), () => page(200, 'My course site')),
  },
  {
    what: 'metadata as text/plain',
    finds: ['resource.content-type'],
    fault: back(at(PRM), ({ headers }) => {
      headers['content-type'] = 'text/plain';
    }),
  },
  {
    what: 'a resource with a trailing slash',
    finds: ['resource.identifier'],
    says: /trailing slash/,
    fault: document([`${PRM}/mcp`], (body) => {
      body.resource = `${body.resource}/`;
    }),
  },
  {
    what: 'a resource with the scheme behind the proxy',
    finds: ['resource.identifier', 'challenge.resource-metadata'],
    says: /the scheme differs/,
    fault: resource((body) => {
      body.resource = String(body.resource).replace('http:', 'https:');
    }),
  },
  {
    what: 'a resource with the port behind the proxy',
    finds: ['resource.identifier', 'challenge.resource-metadata'],
    says: /the port differs/,
    fault: resource((body) => {
      body.resource = String(body.resource).replace(/:\d+/, ':8080');
    }),
  },
  {
    what: 'a resource with the host behind the proxy',
    finds: ['resource.identifier', 'challenge.resource-metadata'],
    says: /the host differs/,
    fault: resource((body) => {
      body.resource = String(body.resource).replace('localhost', 'gate.internal');
    }),
  },
  {
    what: 'no authorization server',
    finds: ['resource.servers'],
    fault: document([`${PRM}/mcp`], (body) => void delete body.authorization_servers),
  },
  {
    what: 'offline_access in the scopes',
    finds: ['resource.scopes'],
    fault: resource((body) => {
      (body.scopes_supported as string[]).push('offline_access');
    }),
  },
  {
    what: 'metadata for unknown paths',
    finds: ['resource.unknown-path'],
    says: /becomes a resource/,
    fault: instead(
      ({ url }) => url.pathname.startsWith(`${PRM}/coursegate`),
      ({ url }) => json(200, { resource: url.origin + url.pathname.slice(PRM.length) }),
    ),
  },
  {
    what: 'metadata at the OpenID path only',
    finds: ['server.found'],
    says: /older clients/,
    fault: instead(at(RFC8414), () => json(404, {})),
  },
  {
    what: 'different metadata at the OAuth and OpenID paths',
    finds: ['server.spellings'],
    says: /a different token_endpoint/,
    fault: document([OPENID], (body) => {
      body.token_endpoint = `${body.token_endpoint}2`;
    }),
  },
  {
    what: 'the server’s metadata as text/plain',
    finds: ['server.content-type'],
    fault: back(at(RFC8414), ({ headers }) => {
      headers['content-type'] = 'text/plain';
    }),
  },
  {
    what: 'an issuer with a trailing slash',
    finds: ['server.issuer', 'authorization.issuer'],
    fault: server((body) => {
      body.issuer = `${body.issuer}/`;
    }),
  },
  {
    what: 'no response types',
    finds: ['server.members'],
    says: /response_types_supported/,
    fault: server((body) => void delete body.response_types_supported),
  },
  {
    what: 'an endpoint on plain http',
    finds: ['server.https', 'server.hosts'],
    fault: server((body) => {
      body.revocation_endpoint = 'http://gate.internal:8080/api/oauth/revoke';
    }),
  },
  {
    what: 'an endpoint on a private address',
    finds: ['server.https', 'server.hosts'],
    fault: server((body) => {
      body.pushed_authorization_request_endpoint = 'https://169.254.169.254/latest';
    }),
  },
  {
    what: 'an endpoint on another host',
    finds: ['server.hosts'],
    fault: server((body) => {
      body.revocation_endpoint = String(body.revocation_endpoint).replace('localhost', '127.0.0.1');
    }),
  },
  {
    what: 'the PKCE method plain in the metadata',
    finds: ['server.pkce'],
    fault: server((body) => {
      body.code_challenge_methods_supported = ['S256', 'plain'];
    }),
  },
  {
    what: 'no PKCE in the metadata',
    finds: ['server.pkce'],
    says: /not advertised/,
    fault: server((body) => void delete body.code_challenge_methods_supported),
  },
  {
    what: 'the password grant in the metadata',
    finds: ['server.grant-types'],
    fault: server((body) => {
      body.grant_types_supported = ['authorization_code', 'password'];
    }),
  },
  {
    what: 'no iss support in the metadata',
    finds: ['authorization.issuer'],
    fault: server((body) => void delete body.authorization_response_iss_parameter_supported),
  },
  {
    what: 'dynamic registration only',
    finds: ['server.apps-may-come'],
    fault: server((body) => void delete body.client_id_metadata_document_supported),
  },
  {
    what: 'confidential apps only',
    finds: ['server.public-clients'],
    fault: server((body) => {
      body.token_endpoint_auth_methods_supported = ['client_secret_post'];
    }),
  },
  {
    what: 'a missing endpoint',
    finds: ['endpoint.there'],
    says: /pushed_authorization_request_endpoint/,
    fault: instead(at('/api/oauth/par'), () => json(404, {})),
  },
  {
    what: 'a published private key',
    finds: ['endpoint.keys'],
    says: /private part/,
    fault: document(['/.well-known/jwks.json'], (body) => {
      (body.keys as Document[])[0] = { ...(body.keys as Document[])[0], d: 'AAAA' };
    }),
  },
  {
    what: 'an invalid key',
    finds: ['endpoint.keys'],
    says: /not a usable key/,
    fault: document(['/.well-known/jwks.json'], (body) => {
      (body.keys as Document[])[0] = { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'k' };
    }),
  },
  {
    what: 'an HTML page for an invalid token request',
    finds: ['token.errors'],
    fault: back(
      (one) => one.url.pathname === TOKEN && one.body.includes('nonsense'),
      (answered) => {
        answered.status = 500;
        answered.headers['content-type'] = 'text/html';
        answered.body = '<html>Fatal error</html>';
      },
    ),
  },
  {
    what: 'an error about the code for an unknown app',
    finds: ['token.unknown-client'],
    fault: back(
      (one) => one.url.pathname === TOKEN && one.body.includes('never-registered'),
      (answered) => {
        answered.status = 400;
        answered.body = '{"error":"invalid_grant"}';
      },
    ),
  },
  {
    what: 'a token endpoint that accepts GET',
    finds: ['token.get'],
    fault: instead(
      (one) => at(TOKEN)(one) && one.method === 'GET',
      () => json(400, { error: 'invalid_grant' }),
    ),
  },
  {
    what: 'cacheable token responses',
    finds: ['token.no-store'],
    fault: back(at(TOKEN), ({ headers }) => void delete headers['cache-control']),
  },
  {
    what: 'a wrong error for an unknown code',
    finds: ['token.unknown-code'],
    fault: back(at(TOKEN), (answered) => {
      answered.body = answered.body.replace('invalid_grant', 'access_denied');
    }),
  },
  {
    what: 'introspection without authentication',
    finds: ['introspection.closed'],
    fault: instead(
      (one) => at('/api/oauth/introspect')(one) && !one.body.includes('client_id'),
      () => json(200, { active: false }),
    ),
  },
  {
    what: 'a revocation endpoint that fails',
    finds: ['revocation.works'],
    fault: back(at('/api/oauth/revoke'), (answered) => {
      answered.status = 400;
    }),
  },
  {
    what: 'no revocation endpoint',
    finds: ['revocation.works'],
    says: /no revocation endpoint/,
    fault: server((body) => void delete body.revocation_endpoint),
  },
  {
    what: '401 without a challenge',
    finds: ['challenge.present'],
    fault: back(at(USERINFO), ({ headers }) => void delete headers['www-authenticate']),
  },
  {
    what: 'a login page instead of 401',
    finds: ['challenge.present'],
    says: /a sign-in page/,
    fault: instead(at(USERINFO), ({ url }) => page(302, 'Found', { location: `${url.origin}/login` })),
  },
  {
    what: 'a challenge with a broken metadata link',
    finds: ['challenge.resource-metadata'],
    fault: challengeWithout('resource_metadata'),
  },
  { what: 'challenges without a scope', finds: ['challenge.scope'], fault: challengeWithout('scope') },
  {
    what: 'a server error for an invalid token',
    finds: ['challenge.bad-token'],
    says: /500/,
    fault: back(
      (one) => at('/mcp')(one) && one.headers.authorization !== undefined,
      (answered) => {
        answered.status = 500;
      },
    ),
  },
  {
    what: 'a proxy that removes Authorization',
    finds: ['challenge.bad-token', 'challenge.authorization-field', 'registration.management'],
    fault: { toGate: ({ headers }) => void delete headers.authorization },
  },
  {
    what: 'a token accepted in the URL',
    finds: ['challenge.query-token'],
    fault: {
      toGate: ({ url, headers }) => {
        const token = url.searchParams.get('access_token');
        if (token !== null) headers.authorization = `Bearer ${token}`;
      },
    },
  },
  {
    what: 'a redirect for a trailing slash',
    finds: ['challenge.slash'],
    fault: instead(at('/mcp/'), () => page(301, 'Moved', { location: '/mcp' })),
  },
  {
    what: 'metadata without CORS',
    finds: ['cors.discovery'],
    fault: back(at(RFC8414), ({ headers }) => void delete headers['access-control-allow-origin']),
  },
  {
    what: 'no preflight response at the token endpoint',
    finds: ['cors.token'],
    fault: instead(
      (one) => at(TOKEN)(one) && one.method === 'OPTIONS',
      () => json(405, {}),
    ),
  },
  {
    what: 'no preflight response at the registration endpoint',
    finds: ['cors.token'],
    fault: instead(
      (one) => at(REGISTER)(one) && one.method === 'OPTIONS',
      () => json(405, {}),
    ),
  },
  {
    what: 'a CORS wildcard instead of Authorization',
    finds: ['cors.mcp'],
    says: /does not allow authorization/,
    fault: back(
      (one) => at('/mcp')(one) && one.method === 'OPTIONS',
      ({ headers }) => {
        headers['access-control-allow-headers'] = '*';
      },
    ),
  },
  {
    what: 'a challenge that CORS does not expose',
    finds: ['cors.exposed'],
    fault: { fromGate: ({ headers }) => void delete headers['access-control-expose-headers'] },
  },
  {
    what: 'CORS with credentials for any origin',
    finds: ['cors.credentials'],
    fault: back(at(USERINFO), ({ headers }, one) => {
      headers['access-control-allow-origin'] = one.headers.origin ?? '*';
      headers['access-control-allow-credentials'] = 'true';
    }),
  },
  {
    what: '502 at the MCP endpoint',
    finds: ['mcp.initialize'],
    fault: instead(
      (one) => one.body.includes('"initialize"'),
      () => page(502, 'Bad Gateway'),
    ),
  },
  {
    what: 'a proxy that blocks the new MCP revision',
    finds: ['mcp.discover'],
    fault: instead(
      (one) => one.body.includes('server/discover'),
      () => page(404, 'Not found'),
    ),
  },
  {
    what: 'an HTML page for GET at the MCP endpoint',
    finds: ['mcp.get'],
    fault: instead(
      (one) => at('/mcp')(one) && one.method === 'GET',
      () => page(200, 'Welcome'),
    ),
  },
  {
    what: 'a proxy that buffers events',
    finds: ['mcp.buffering'],
    fault: instead(
      (one) => at('/mcp')(one) && one.method === 'GET' && one.headers.accept === 'text/event-stream',
      () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: {}\n\n' }),
    ),
  },
  {
    what: 'a proxy that blocks DELETE',
    finds: ['edge.methods'],
    fault: instead(
      (one) => at('/mcp')(one) && one.method === 'DELETE',
      () => page(403, 'Forbidden'),
    ),
  },
  {
    what: 'a small body size limit',
    finds: ['edge.body-size'],
    fault: instead(
      ({ body }) => body.length > 500_000,
      () => page(413, 'Request Entity Too Large'),
    ),
  },
  {
    what: 'a Cloudflare block on Claude',
    finds: ['edge.assistants'],
    says: /Claude-User gets 403.*Cloudflare/,
    fault: instead(agent(/Claude-User/), () => page(403, 'Just a moment...', { 'cf-mitigated': 'challenge' })),
  },
  {
    what: 'a block on Python clients',
    finds: ['edge.libraries'],
    says: /python-httpx gets 403/,
    fault: instead(agent(/python/), () => page(403, 'Forbidden')),
  },
  {
    what: 'a block on requests without User-Agent',
    finds: ['edge.libraries'],
    says: /no User-Agent gets 403/,
    fault: instead(agent(/\(none\)/), () => page(403, 'Forbidden')),
  },
  {
    what: 'a browser challenge page',
    finds: ['edge.puzzle'],
    fault: instead(
      ({ headers, method }) =>
        method === 'GET' && /Chrome/.test(headers['user-agent'] ?? '') && headers.accept === 'text/html',
      () => page(403, 'Just a moment...', { 'cf-mitigated': 'challenge' }),
    ),
  },
  {
    what: 'a cached challenge',
    finds: ['cache.challenge'],
    says: /X?age: 30/i,
    fault: {
      fromGate: ({ status, headers }) => {
        if (status === 401) headers.age = '30';
      },
    },
  },
  {
    what: 'cached responses to members',
    finds: ['cache.authenticated'],
    says: /x-cache: HIT/,
    fault: instead(
      ({ headers }) => headers.authorization?.includes('doctor-cache') === true,
      () => json(200, {}, { 'x-cache': 'HIT from edge' }),
    ),
  },
  {
    what: 'metadata with a cookie',
    finds: ['cache.metadata'],
    fault: back(at(RFC8414), ({ headers }) => {
      headers['set-cookie'] = ['a=b'];
    }),
  },
  {
    what: 'metadata cached for a year',
    finds: ['cache.metadata'],
    fault: back(at(RFC8414), ({ headers }) => {
      headers['cache-control'] = 'public, max-age=31536000';
    }),
  },
  {
    what: 'a wrong status for a registration',
    finds: ['registration.works'],
    fault: back(at(REGISTER), (answered) => {
      if (answered.status === 201) answered.status = 200;
    }),
  },
  {
    what: 'a registration without an ID',
    finds: ['registration.works'],
    says: /^201 without a client_id$/,
    fault: back(at(REGISTER), (answered) => {
      answered.body = answered.body.replace('"client_id":', '"id":');
    }),
  },
  {
    what: 'an unrequested client secret',
    finds: ['registration.public'],
    fault: back(at(REGISTER), (answered) => {
      answered.body = answered.body.replace('"client_id":', '"client_secret":"x","client_id":');
    }),
  },
  {
    what: 'a script accepted as a redirect URI',
    finds: ['registration.script-uri'],
    says: /^javascript:.*^JaVaScRiPt:.*^data:.*^vbscript:.*^file:.*^view-source:https/ms,
    fault: registers((all) => uris(all).some((uri) => /^(?!https?:)[\w-]+:/i.test(uri))),
  },
  {
    what: 'a plain http redirect URI accepted',
    finds: ['registration.plain-http-uri'],
    says: /^http:\/\/coursegate-.*^http:\/\/127\.0\.0\.1\.coursegate-.*^http:\/\/192\.168\.1\.1/ms,
    fault: registers((all) => uris(all).some((uri) => /^http:\/\/(?!127\.0\.0\.1\/)/.test(uri))),
  },
  {
    what: 'a wildcard, a fragment and a user name accepted in a redirect URI',
    finds: ['registration.odd-uri'],
    says: /\*\.coursegate-.*callback#x is registered.*bank\.example@/s,
    fault: registers((all) => uris(all).some((uri) => /[*#@]/.test(uri))),
  },
  {
    what: 'an unlimited client name, and unlimited redirect URIs',
    finds: ['registration.bounds'],
    says: /50,000 characters: registered.*1,000 redirect URIs: registered/s,
    fault: registers((all) => String(all.client_name).length > 1000 || uris(all).length > 100),
  },
  {
    what: 'registration with other grants than the authorization code',
    finds: ['registration.grants'],
    says: /for password, client_credentials, urn:coursegate-doctor:nonsense\n.*for implicit, token$/,
    fault: registers((all) => /"(password|implicit)"/.test(JSON.stringify(all))),
  },
  {
    what: 'a redirect URI that is no URI accepted',
    finds: ['registration.errors'],
    says: /is accepted/,
    fault: registers((all) => uris(all).includes('not an address')),
  },
  {
    what: 'an HTML page for an invalid registration',
    finds: ['registration.errors'],
    fault: back(
      (one) => at(REGISTER)(one) && one.body.includes('not an address'),
      (answered) => {
        answered.headers['content-type'] = 'text/html';
        answered.body = '<html>Error</html>';
      },
    ),
  },
  {
    what: 'registrations that are readable without a token',
    finds: ['registration.management'],
    says: /stranger/,
    fault: instead(
      (one) => one.url.pathname.startsWith(`${REGISTER}/`) && one.method === 'GET',
      () => json(200, { client_id: 'x' }),
    ),
  },
  {
    what: 'a valid request that is refused',
    finds: ['authorization.good'],
    fault: authorize((all) => all.set('scope', 'no:such:scope')),
  },
  {
    what: 'optional PKCE',
    finds: ['authorization.pkce-missing'],
    fault: authorize((all) => {
      if (all.has('code_challenge')) return;
      all.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
      all.set('code_challenge_method', 'S256');
    }),
  },
  {
    what: 'PKCE with plain accepted',
    finds: ['authorization.pkce-plain'],
    says: /^plain leads to sign-in\na challenge without a method leads to sign-in$/,
    fault: authorize((all) => {
      if (all.has('code_challenge')) all.set('code_challenge_method', 'S256');
    }),
  },
  {
    what: 'a redirect to an unregistered URI',
    finds: ['authorization.redirect-uri', 'documents.unreachable'],
    fault: instead(
      (one) =>
        at(AUTHORIZE)(one) && one.url.searchParams.get('redirect_uri')?.startsWith('https://coursegate') === true,
      ({ url }) => ({
        status: 302,
        headers: {
          location: `${url.searchParams.get('redirect_uri')}?error=invalid_request`,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
        },
        body: '',
      }),
    ),
  },
  {
    what: 'redirect URIs compared by their beginning',
    finds: ['authorization.redirect-uri'],
    says: /\.\.\/stranger is accepted.*callbackstranger is accepted.*invalid\/callback is accepted/s,
    fault: authorize((all) => {
      if (/stranger|^http:.*invalid/.test(all.get('redirect_uri') ?? ''))
        all.set('redirect_uri', 'http://127.0.0.1/callback');
    }),
  },
  {
    what: 'a loopback redirect URI compared with its port',
    finds: ['authorization.loopback-port'],
    fault: instead(
      (one) => at(AUTHORIZE)(one) && /:\d+\//.test(one.url.searchParams.get('redirect_uri') ?? ''),
      () => page(400, 'Not registered'),
    ),
  },
  {
    what: 'tokens in the redirect URL',
    finds: ['authorization.implicit'],
    fault: authorize((all) => {
      if (all.get('response_type') === 'token') all.set('response_type', 'code');
    }),
  },
  {
    what: 'iss in the metadata but not in the response',
    finds: ['authorization.issuer'],
    fault: returned((all) => all.delete('iss')),
  },
  { what: 'a lost state', finds: ['authorization.state'], fault: returned((all) => all.delete('state')) },
  {
    what: 'a foreign resource accepted',
    finds: ['authorization.resource'],
    fault: {
      toGate: ({ url }) => {
        if (url.searchParams.get('resource')?.includes('doctor')) url.searchParams.set('resource', url.origin);
      },
    },
  },
  {
    what: 'a leaking Referer, and pages that may be cached and framed',
    finds: ['authorization.headers'],
    says: /may be cached.*has no Referrer-Policy.*may be framed/s,
    fault: back(at(AUTHORIZE), ({ headers }) => {
      for (const name of ['referrer-policy', 'cache-control', 'content-security-policy', 'x-frame-options'])
        delete headers[name];
    }),
  },
  {
    what: 'a server error for a missing client document',
    finds: ['documents.unreachable'],
    fault: instead(
      (one) => at(AUTHORIZE)(one) && one.url.searchParams.get('client_id')?.startsWith('https:') === true,
      () => page(500, 'Error'),
    ),
  },
];
