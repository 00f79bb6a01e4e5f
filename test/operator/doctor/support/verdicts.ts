/** An answer as the checks get it. */
const answer = (status: number, headers = {}, body: unknown = '', url = 'https://school.example/at') => ({
  ...{ url, method: 'GET', status, headers, cut: false },
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
const JSON_TYPE = { 'content-type': 'application/json' };
const PAGE = { 'content-type': 'text/html' };
const json = (status: number, body: unknown) => answer(status, JSON_TYPE, body);
/** Answers in turn; the last one again and again. */
const asking = (...all: object[]) => ({ ask: async () => (all.length > 1 ? all.shift() : all[0]) });

const server = (document: object, more = {}) => ({
  origin: 'https://school.example',
  server: { document, issuer: 'https://school.example', answer: json(200, document), spellings: [], ...more },
});
const posting = (got: object) => ({
  ...server({ token_endpoint: 'https://school.example/token' }),
  ...asking(got),
  client: { clientId: 'x', body: {} },
});
const keys = (...all: readonly object[]) => ({
  ...server({ jwks_uri: 'https://school.example/keys' }),
  ...asking(json(200, { keys: all })),
});
const EC = {
  ...{ kty: 'EC', crv: 'P-256', x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4' },
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const protectedBy = (bad: object, none = answer(401), url = 'https://school.example/at') => ({
  protectedEndpoints: [{ url, question: {}, none, bad }],
});
const bearer = (parameters: string) => answer(401, { 'www-authenticate': `Bearer ${parameters}` });
const metadataAt = (link: string, resource: string, url = 'https://school.example/mcp') => ({
  ...protectedBy(bearer(`resource_metadata="${link}"`), bearer(`resource_metadata="${link}"`), url),
  ...asking(json(200, { resource })),
});
const mcp = (got: object) => ({ mcp: { url: 'https://school.example/mcp', answer: got } });
const preflight = (headers: object, status = 204) => ({ ...mcp(answer(401)), ...asking(answer(status, headers)) });
const ALLOWED = 'authorization, Content-Type, mcp-protocol-version,mcp-session-id, mcp-method, mcp-name';
const registering = (body: object, more = {}) => ({
  registered: new Set(),
  registration: async () => ({
    answer: json(201, body),
    client: { clientId: 'x', body, answer: json(201, body) },
  }),
  ...asking(answer(401)),
  ...more,
});
const authorizing = (got: object, goesOn = false, params?: Record<string, string>) => {
  const one = { answer: got, goesOn, returned: params && new URLSearchParams(params) };
  return { authorization: { good: one, request: async () => one } };
};
const resources = (document: object, path = '') => ({
  origin: 'https://school.example',
  resources: [{ path, resource: `https://school.example${path}`, answer: json(200, document), document }],
});
const hsts = (value: string) => ({ 'strict-transport-security': value });
const stream = (coding: string) => ({ 'content-type': 'text/event-stream', 'content-encoding': coding });
const DISCOVERED = {
  issuer: 'x',
  authorization_endpoint: 'a',
  token_endpoint: 't',
  scopes_supported: ['offline_access', 'me'],
};
/** A copy of the metadata, and what the gate's own OpenAPI document says. */
const copied = (document: object, own = {}, headers: object = { 'x-request-id': 'x' }, flow = {}) => ({
  ...resources({ scopes_supported: [] }, '/mcp'),
  ...server({ ...DISCOVERED, ...document }),
  ...asking(
    answer(200, headers, {
      components: {
        securitySchemes: {
          oauth2: {
            flows: { authorizationCode: { authorizationUrl: 'a', tokenUrl: 't', scopes: { me: '' }, ...flow } },
          },
          ...own,
        },
      },
    }),
  ),
});
const NOW = Date.parse('2026-11-23T08:00:00Z');
const clock = (seconds: number, headers = {}) => ({
  ...{ origin: 'https://school.example', path: '', now: () => NOW },
  ...asking(answer(200, { date: new Date(NOW + seconds * 1000).toUTCString(), ...headers })),
});
const certificate = (days: number) => ({
  ...{ origin: 'https://school.example', now: () => NOW },
  certificateEnd: async () => NOW + days * 86_400_000,
});

const ENDPOINTS = [
  ...['authorization', 'token', 'registration', 'revocation', 'introspection', 'pushed_authorization_request'],
  ...['userinfo', 'end_session', 'device_authorization'],
].map((name) => [`${name}_endpoint`, `https://school.example/${name}`]);
const DOCUMENT = {
  ...Object.fromEntries(ENDPOINTS),
  ...{ jwks_uri: 'https://school.example/keys', client_id_metadata_document_supported: true },
};

/** A refusal that no check ends at. */
export const REFUSED = answer(403, { 'access-control-allow-origin': '*' });
/** What the checks know of a site, except how to ask. */
export const EXAMINED = {
  ...server(DOCUMENT),
  ...protectedBy(bearer('error="invalid_token"'), answer(401), 'https://school.example/mcp'),
  ...mcp(answer(401)),
  ...resources({}),
  ...{ path: '/mcp', plainOrigin: 'http://school.example', now: () => NOW, certificateEnd: async () => NOW },
  ...{ wellKnown: [], serverSpellings: { spellings: [] }, client: { clientId: 'x', body: {} } },
};

/** What a check says of answers that no gate gives, and few proxies: its id, what is known, and its verdicts. */
export const VERDICTS: readonly (readonly [check: string, known: object, says: RegExp])[] = [
  ['reach.hsts', { origin: 'https://school.example', ...asking(answer(200, hsts('max-age=0'))) }, /^warning: .*=0$/],
  ['reach.hsts', { origin: 'https://school.example', ...asking(answer(200, hsts('max-age="010"'))) }, /^pass/],
  ['reach.certificate', certificate(13.9), /^warning: it expires in 13 days$/],
  ['reach.certificate', certificate(14), /^pass/],
  ['reach.clock', clock(60), /^pass/],
  ['reach.clock', clock(61), /^warning: 61 seconds ahead of/],
  ['reach.clock', clock(-61), /^pass/],
  ['reach.clock', clock(-62), /^warning: 61 seconds behind/],
  ['reach.clock', clock(-600, { age: '590' }), /^pass/],
  [
    'reach.forwarded-host',
    { ...server({}), ...asking(answer(302, { location: 'https://coursegate-doctor.invalid/x' })) },
    /^(failure: requested with .*, \/at redirects to that host\n?){3}$/,
  ],

  ['resource.found', { origin: 'https://school.example', path: '/mcp', wellKnown: [] }, /^failure: .*\/mcp gives no/],
  ['resource.identifier', resources({ resource: 'https://school.example/' }), /^pass/],
  ['resource.identifier', resources({ resource: 'https://school.example/other' }), /^failure: .*the path differs$/],
  ['resource.identifier', resources({ resource: 'school' }), /^failure: .*it is not a URL$/],
  [
    'resource.identifier',
    resources({ resource: 'https://school.example/mcp/' }, '/mcp'),
    /^failure: .*a trailing slash/,
  ],
  [
    'resource.identifier',
    resources({ resource: 'https://school.example/mcp?x' }, '/mcp'),
    /^failure: .*the path differs$/,
  ],
  ['resource.servers', resources({ authorization_servers: ['https://school.example'] }), /^pass/],
  [
    'resource.servers',
    resources({ authorization_servers: ['http://a.example', 'https://b.example/?x', 'https://c.example/#x', 'd'] }),
    /^failure: \S+ names "http:\/\/a.*\nfailure: .*b\.ex.*\nfailure: .*c\.ex.*\nfailure: .*"d"$/,
  ],
  ['resource.scopes', resources({ scopes_supported: 'profile' }), /^warning: .*not a list of strings$/],
  ['resource.scopes', resources({ scopes_supported: ['profile', 1] }), /^warning: .*not a list of strings$/],
  [
    'resource.unknown-path',
    { ...resources({}), ...asking(json(200, { resource: 'https://school.example' })) },
    /^warning: an unknown path gets the metadata of https:\/\/school\.example$/,
  ],

  [
    'server.members',
    server({ response_types_supported: ['code'] }),
    /^failure: missing: issuer, authorization_endpoint, token_endpoint$/,
  ],
  [
    'server.https',
    server({ token_endpoint: 'x', jwks_uri: 'http://school.example/keys' }),
    /^failure: token_endpoint is not a URL: x\nfailure: jwks_uri is http:/,
  ],
  ['server.pkce', server({ code_challenge_methods_supported: ['plain'] }), /^failure: plain$/],
  ['server.grant-types', server({ grant_types_supported: ['implicit'] }), /^warning: implicit is offered$/],
  ['server.apps-may-come', server({}), /^failure: neither by document nor by registration/],
  ['server.apps-may-come', server({ client_id_metadata_document_supported: true }), /^pass: by document$/],
  ['server.public-clients', server({}), /^warning: missing, which means client_secret_basic$/],
  ['server.copy', copied({}), /^pass: \/at: copies, the same as/],
  ['server.copy', copied({ scopes_supported: ['you'] }), /^failure: \/at is a copy with another scopes_supported than/],
  ['server.copy', copied({ scopes_supported: ['me', 'you'] }), /^failure: .*another scopes_supported than/],
  ['server.copy', copied({ token_endpoint: 'x' }), /^failure: .*another token_endpoint than/],
  ['server.copy', copied({ authorization_endpoint: 'x' }), /^failure: .*another authorization_endpoint than/],
  ['server.copy', copied({ registration_endpoint: 'x' }), /^failure: .*another registration_endpoint than/],
  ['server.copy', copied({}, { registrationAccessToken: {} }), /^failure: .*another registration_endpoint than/],
  ['server.copy', copied({ registration_endpoint: 'x' }, { registrationAccessToken: {} }), /^pass/],
  ['server.copy', copied({}, {}, {}), /^Unavailable: they are copies, or not of coursegate/],
  ['server.copy', copied({}, { oauth2: {} }), /^Unavailable: they are copies, or not of coursegate/],

  ['endpoint.keys', { ...keys(), ...asking(json(404, { keys: [EC] })) }, /^failure: \/at is not a JWKS \(404\)$/],
  ['endpoint.keys', { ...keys(), ...asking(json(200, {})) }, /^failure: \/at is not a JWKS \(200\)$/],
  ['endpoint.keys', keys(), /^failure: the set is empty$/],
  ['endpoint.keys', keys({ ...EC, d: 'x', k: 'x' }), /^failure: a key without kid is .*\(d, k\)$/],
  ['endpoint.keys', keys(EC), /^pass: 1 key$/],
  ['endpoint.keys', keys({ ...EC, kid: 'a' }, EC), /^warning: a key has no kid$/],
  ['endpoint.keys', keys({ ...EC, kid: 'a' }, { ...EC, kid: 'a' }), /^warning: two keys have the kid a$/],
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map(
    (member) =>
      [
        'endpoint.keys',
        keys({ ...EC, kid: 'a', [member]: 'x' }),
        new RegExp(`^failure: a is .*\\(${member}\\)$`),
      ] as const,
  ),
  [
    'endpoint.keys',
    keys({ kty: 'RSA', kid: 'a', e: 'AQAB', n: `gA${'A'.repeat(169)}` }),
    /^failure: a has only 10\d\d bits$/,
  ],
  ['token.errors', posting(answer(200)), /^failure: an invalid request gets 200$/],
  ['token.errors', posting(answer(500)), /^failure: an invalid request gets 500$/],
  ['token.errors', posting(answer(400, PAGE, { error: 'x' })), /^failure: .* gets a page \(400\)$/],
  ['token.errors', posting(json(400, {})), /^failure: 400 without "error"$/],
  ['token.errors', posting(answer(400, {}, { error: 'x' })), /^warning: 400 x as no type$/],
  ['token.errors', posting(json(403, { error: 'x' })), /^warning: 403 x instead of 400 or 401$/],
  ['token.errors', posting(json(401, { error: 'x' })), /^pass: 401 x$/],
  ['token.get', posting(answer(200)), /^failure: GET gets 200$/],
  ['token.get', posting(json(401, { error: 'invalid_client' })), /^warning: .*: invalid_client$/],
  ['token.no-store', posting(answer(400, { 'cache-control': 'private' })), /^warning: Cache-Control: private$/],
  ['token.unknown-code', posting(answer(200)), /^failure: it gets 200$/],
  ['token.unknown-code', posting(json(403, { error: 'invalid_grant' })), /^warning: 403 invalid_grant$/],
  ['token.unknown-code', posting(json(401, { error: 'invalid_grant' })), /^pass: 401 invalid_grant$/],
  ['token.unknown-client', posting(json(400, {})), /^warning: 400 without a code$/],
  ...[404, 410, 500].map(
    (status) =>
      ['endpoint.there', posting(answer(status)), new RegExp(`^failure: token_endpoint: \\S+ is ${status}$`)] as const,
  ),
  ['endpoint.there', posting(answer(400)), /^pass: 1 addresses answer$/],

  ['challenge.present', protectedBy(bearer('realm="x"'), bearer('realm="x"')), /^pass: \/at$/],
  ['challenge.present', protectedBy(answer(200), answer(200)), /^warning: no known address requires a token$/],
  ['challenge.present', protectedBy(answer(401), answer(403)), /^failure: \/at: 403 without a challenge$/],
  [
    'challenge.present',
    protectedBy(answer(401), answer(401, { 'www-authenticate': 'Basic realm="school"' })),
    /^failure: \/at challenges without Bearer: Basic realm="school"$/,
  ],
  [
    'challenge.resource-metadata',
    metadataAt('/metadata', 'https://school.example/mcp'),
    /^failure: .*not an absolute URL$/,
  ],
  ...['https://school.example/mc', 'https://school.example/mcp/x', 'http://school.example/mcp', 'mcp'].map(
    (resource) =>
      [
        'challenge.resource-metadata',
        metadataAt('https://school.example/m', resource),
        /^failure: .*which does not cover/,
      ] as const,
  ),
  ...['https://school.example/', 'https://school.example', 'https://school.example/mcp/'].map(
    (resource) =>
      ['challenge.resource-metadata', metadataAt('https://school.example/m', resource), /^pass: \/m$/] as const,
  ),
  ['challenge.bad-token', protectedBy(answer(200)), /^failure: \/at accepts it \(200\)$/],
  ['challenge.bad-token', protectedBy(answer(500)), /^failure: \/at fails with 500$/],
  ['challenge.bad-token', protectedBy(answer(400)), /^warning: \/at answers 400$/],
  ['challenge.bad-token', protectedBy(answer(404)), /^pass/],
  ['challenge.bad-token', protectedBy(bearer('error="invalid_request"')), /^warning: .*error="invalid_request"$/],
  ['challenge.bad-token', protectedBy(bearer('realm="x"')), /^warning: .*401 with no error$/],
  ['challenge.slash', { ...mcp(answer(401)), ...asking(answer(200, PAGE)) }, /^warning: \/at is a page$/],

  ['cors.mcp', preflight({ 'access-control-allow-origin': '*', 'access-control-allow-headers': ALLOWED }), /^pass/],
  ['cors.mcp', preflight({ 'access-control-allow-headers': ALLOWED }), /^warning: .*: no Access-Control-Allow-Origin$/],
  [
    'cors.mcp',
    preflight({ 'access-control-allow-origin': 'https://school.example', 'access-control-allow-headers': ALLOWED }),
    /^warning: .*Access-Control-Allow-Origin is https:\/\/school\.example$/,
  ],
  ['cors.mcp', preflight({ 'access-control-allow-origin': '*' }, 300), /^warning: .*is answered 300$/],
  [
    'cors.mcp',
    preflight({ 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization, *' }),
    /^pass/,
  ],
  ['cors.exposed', protectedBy(answer(403)), /^Unavailable: no address requires a token$/],
  [
    'cors.exposed',
    { ...protectedBy(answer(401)), ...asking(answer(401)) },
    /^warning: \/at: no Access-Control-Allow-Origin$/,
  ],

  ['mcp.initialize', mcp(json(400, { error: {} })), /^warning: .*with an error \(400\)$/],
  ['mcp.initialize', mcp(answer(200, { 'content-type': 'text/event-stream' }, 'data: {"result":{}}')), /^pass: 200$/],
  ['mcp.initialize', mcp(json(500, { error: {} })), /^failure/],
  ['mcp.discover', { ...mcp(answer(401)), ...asking(json(400, { error: {} })) }, /^pass: an older revision/],
  ['mcp.discover', { ...mcp(answer(401)), ...asking(json(400, {})) }, /^warning: .*without JSON-RPC$/],
  ['mcp.get', { ...mcp(answer(401)), ...asking(answer(302, { location: '/x' })) }, /^warning: GET is /],
  ['mcp.get', { ...mcp(answer(401)), ...asking(answer(500)) }, /^warning: GET fails with 500$/],
  [
    'mcp.buffering',
    { ...mcp(answer(401)), ...asking(answer(200, stream('gzip'))) },
    /^warning: .*Content-Encoding gzip$/,
  ],
  ['mcp.buffering', { ...mcp(answer(401)), ...asking(answer(200, stream('identity'))) }, /^pass: events arrive/],

  ['edge.body-size', { ...mcp(answer(401)), ...asking(answer(400), answer(200)) }, /^pass: 400$/],
  [
    'edge.body-size',
    { ...mcp(answer(401)), ...asking(answer(500, PAGE), answer(200)) },
    /^warning: it gets 500 text\/html$/,
  ],
  [
    'edge.body-size',
    { ...mcp(answer(401)), ...asking(answer(403, PAGE), answer(401)) },
    /^warning: it gets 403 text\/html$/,
  ],
  ['edge.body-size', { ...mcp(answer(401)), ...asking(answer(413, PAGE)) }, /^warning: 413, from something in front/],
  ['edge.body-size', { ...mcp(answer(401)), ...asking(answer(413)) }, /^warning: 413$/],
  ['edge.body-size', { ...mcp(answer(401)), ...asking(answer(503)) }, /^Unavailable: a small request gets 503 too$/],

  [
    'cache.challenge',
    protectedBy(answer(401, { 'cache-control': 'max-age=60' }), answer(404)),
    /^warning: .*max-age=60$/,
  ],
  ['cache.challenge', protectedBy(answer(401, { 'cache-control': 'PUBLIC' }), answer(404)), /^warning: .*PUBLIC$/],
  ['cache.challenge', protectedBy(answer(401, { 'cache-control': 'max-age=0' }), answer(404)), /^pass/],
  [
    'cache.challenge',
    protectedBy(answer(403, { 'cf-cache-status': 'HIT' }), answer(404)),
    /^failure: .*\(cf-cache-status: HIT\)$/,
  ],
  [
    'cache.metadata',
    {
      ...server({}),
      ...resources({}),
      ...asking(answer(200, { 'access-control-allow-origin': 'https://coursegate-doctor.invalid' })),
    },
    /^(warning: \/at echoes the origin without Vary: Origin\n?){2}$/,
  ],

  ['registration.works', { registration: async () => ({ answer: json(400, { error: 'no' }) }) }, /^failure: 400 no$/],
  [
    'registration.script-uri',
    { registration: async () => ({ answer: answer(500) }) },
    /^(failure: \S+: the server fails with 500\n?){6}$/,
  ],
  ['registration.script-uri', registering({}), /^(failure: \S+ is registered\n?){6}$/],
  ['registration.script-uri', registering({ redirect_uris: [] }), /^pass: 6 refused$/],
  ['registration.management', registering({}), /^warning: no registration_client_uri is returned/],
  [
    'registration.management',
    registering({ registration_client_uri: 'https://school.example/r' }),
    /^warning: .*cannot be deleted/,
  ],
  [
    'registration.management',
    registering({ registration_client_uri: 'https://other.example/r', registration_access_token: 'x' }),
    /^warning: .*cannot be deleted/,
  ],
  [
    'registration.management',
    registering({ registration_client_uri: 'https://school.example/r', registration_access_token: 'x' }),
    /^warning: DELETE gets 401$/,
  ],
  [
    'registration.management',
    registering(
      { registration_client_uri: 'https://school.example/r', registration_access_token: 'x y' },
      asking(answer(401), answer(204)),
    ),
    /^warning: .*cannot be deleted/,
  ],
  [
    'registration.management',
    registering(
      { registration_client_uri: 'https://school.example/r', registration_access_token: 'x' },
      asking(answer(401), answer(204)),
    ),
    /^pass: 401 to strangers, 204 to DELETE$/,
  ],
  [
    'registration.public',
    { client: { body: { token_endpoint_auth_method: 'client_secret_post' } } },
    /^warning: .*client_secret_post$/,
  ],

  ['authorization.good', authorizing(answer(302), false, { error: 'invalid_scope' }), /^failure/],
  ['authorization.pkce-missing', authorizing(answer(500)), /^failure: .*fails with 500$/],
  ['authorization.pkce-missing', authorizing(answer(302), false, { code: 'x' }), /^failure: .* is granted$/],
  ['authorization.implicit', authorizing(answer(302), false, { access_token: 'x' }), /^failure: .* is granted$/],
  ['authorization.implicit', authorizing(answer(302), false, { error: 'x' }), /^pass/],
  ['authorization.state', authorizing(answer(302), false, { state: 'x' }), /^failure: it comes back as x$/],
  ['authorization.state', authorizing(answer(400)), /^Unavailable: no error was returned to the app$/],
  [
    'authorization.issuer',
    {
      ...server({ issuer: 'https://school.example' }),
      ...authorizing(answer(302), false, { error: 'x', iss: 'https://school.example' }),
    },
    /^warning: iss is not announced/,
  ],
];
