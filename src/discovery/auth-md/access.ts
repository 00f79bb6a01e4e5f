import { sizeText } from '../../http/size-text.ts';
import type { DescribedService } from '../described-service.ts';
import { textOf } from '../described-service.ts';
import { block, code, codes, durationText, plain, table } from './markdown.ts';
import { dpopText, toolTable } from './start.ts';

/** The second half of auth.md: from the member's approval to the end of the connection. */
export function accessSections(service: DescribedService): readonly string[] {
  return [
    ...authorize(service),
    ...exchange(service),
    ...use(service),
    scopes(service),
    errors(service),
    ...revocation(service),
    limits(service),
    ...help(service),
  ];
}

function resourceLine({ config }: DescribedService): string {
  const { origin, resources } = config;
  const others = resources.map(({ path }) => origin + path);
  const narrower =
    others.length === 0
      ? ''
      : ` A token for ${codes(others)} opens that part only: name it in place of the origin to get one.`;
  return config.resourceIndicator === 'required'
    ? `\`resource\` (RFC 8707) is required, here and in every token request: ${code(origin)}.${narrower}`
    : `\`resource\` (RFC 8707) is optional: left out, the token is for ${code(origin)}.${narrower}`;
}

function authorize(service: DescribedService): readonly string[] {
  const { config, endpoints } = service;
  const { origin } = config;
  const optional = config.resourceIndicator === 'optional' ? ' (optional)' : '';
  return [
    '## 4. Authorize',
    `Make a PKCE verifier and its S256 challenge, and open this in the member’s browser: GET ${code(origin + endpoints.authorization)} with`,
    table(
      ['Parameter', 'Value'],
      [
        ['`response_type`', code('code')],
        ['`client_id`', 'yours'],
        ['`redirect_uri`', 'one of yours'],
        ['`scope`', 'what you need, with spaces between: see Scopes'],
        ['`code_challenge`', 'the challenge'],
        ['`code_challenge_method`', code('S256')],
        ['`state`', 'a random string'],
        [`\`resource\`${optional}`, code(origin)],
      ],
    ),
    resourceLine(service),
    `The member signs in, sees who asks and for what, and may allow less. The browser then comes back to \`redirect_uri\` with \`code\`, \`state\` and \`iss\`: check that \`state\` is yours and that \`iss\` is ${code(origin)} (RFC 9207). A code lives ${durationText(config.tokens.code)} (${code(String(config.tokens.code))} seconds). The parameters may be sent ahead to ${code(origin + endpoints.pushedAuthorization)} (RFC 9126).`,
  ];
}

function exchange(service: DescribedService): readonly string[] {
  const { config, endpoints } = service;
  const { origin, tokens } = config;
  const url = origin + endpoints.token;
  const resource = `resource=${encodeURIComponent(origin)}`;
  const rest = config.resourceIndicator === 'required' ? `&${resource}` : '';
  const replay =
    tokens.replayWindow === 0
      ? 'A refresh token that is used twice ends the connection.'
      : `The same request within ${durationText(tokens.replayWindow)} gets the same answer; a refresh token that is used again later ends the connection.`;
  const form = ['Content-Type: application/x-www-form-urlencoded', ''];
  return [
    '## 5. Exchange and refresh',
    'Forms, with every value percent-encoded. Confidential clients add `client_secret`.',
    block('http', [
      `POST ${url}`,
      ...form,
      `grant_type=authorization_code&code=<code>&redirect_uri=<redirect_uri>&client_id=<client_id>&code_verifier=<code_verifier>${rest}`,
    ]),
    block('http', [
      `POST ${url}`,
      ...form,
      `grant_type=refresh_token&refresh_token=<refresh_token>&client_id=<client_id>${rest}`,
    ]),
    table(
      ['What', 'Lives', 'Seconds'],
      [
        ['Access token', durationText(tokens.access), code(String(tokens.access))],
        ['Refresh token, unused', durationText(tokens.refresh), code(String(tokens.refresh))],
        [
          'Connection, however often it is refreshed',
          durationText(tokens.refreshAbsolute),
          code(String(tokens.refreshAbsolute)),
        ],
      ],
    ),
    `Each refresh gives a new refresh token: keep that one. ${replay} Tokens are opaque: ${code(origin + endpoints.introspection)} says what one of yours is (RFC 7662). ${dpopText()}`,
  ];
}

function use(service: DescribedService): readonly string[] {
  const { config, mcp, endpoints } = service;
  const { origin, account } = config;
  const open = config.routes.some((route) => (route.anonymous ?? config.anonymous) === 'serve');
  const anonymous = open
    ? 'A request without a token is served as to anybody where the OpenAPI document says so (`{}` in `security`), and else answered 401. One with a token that is not valid is always refused.'
    : 'A request without a token is answered 401.';
  return [
    '## 6. Use',
    'Send the access token in the header field, never in a URL:',
    block('http', [`GET ${origin}${endpoints.userinfo}`, 'Authorization: Bearer <access_token>']),
    anonymous,
    ...(account === undefined
      ? []
      : [
          `**Account API.** GraphQL, with a token that has ${code('account:read')}; there is no anonymous mode. Introspection is ${account.introspection ? 'open: ask for the schema' : 'closed'}.`,
          block('http', [
            `POST ${origin}${account.path}`,
            'Authorization: Bearer <access_token>',
            'Content-Type: application/json',
            '',
            '{"query":"{ viewer { id email } }"}',
          ]),
        ]),
    ...(mcp === undefined ? [] : toolTexts(service, mcp)),
  ];
}

function toolTexts({ config }: DescribedService, mcp: NonNullable<DescribedService['mcp']>): readonly string[] {
  const asked =
    config.mcp?.signIn === 'on-call'
      ? 'All tools are listed to everybody; the call of one that needs a member is answered 401 or 403 with a challenge.'
      : 'Without a token the public tools are listed, and there is no challenge; with one, those that its scopes cover too.';
  return [
    `**Tools.** The Model Context Protocol over HTTP at ${code(config.origin + mcp.open)}, with or without a token. ${asked} At ${code(config.origin + mcp.member)} the same tools stand behind a 401, for clients that sign in only then.`,
    block('http', [
      `POST ${config.origin}${mcp.open}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      '',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ]),
    ...(mcp.tools.length === 0 ? [] : [toolTable(mcp)]),
  ];
}

function scopes({ config }: DescribedService): string {
  const rows = Object.entries(config.scopes).map(([scope, { title }]) => [code(scope), plain(textOf(title))]);
  const parts = config.resources.map(
    ({ path, scopes: of }) => `A token for ${code(config.origin + path)} can have ${codes(of)} only.`,
  );
  const words = 'Ask for what you need and no more: the member reads each as a sentence, and may leave out any.';
  return ['## Scopes', [words, ...parts].join(' '), table(['Scope', 'What the member allows'], rows)].join('\n\n');
}

function errors({ config }: DescribedService): string {
  return [
    '## Errors',
    table(
      ['Status', '`error`', 'What to do'],
      [
        ['401', code('invalid_token'), 'Refresh once. If that fails, start again at step 4.'],
        ['403', code('insufficient_scope'), 'Step 4 again, with the scopes that `WWW-Authenticate` names.'],
        ['400', code('invalid_grant'), 'The code or refresh token is used up or ended: step 4.'],
        ['400', code('invalid_target'), `Send ${code(`resource=${config.origin}`)}.`],
        ['400', code('invalid_scope'), 'Ask for scopes of the table above only.'],
        ['400', code('invalid_request'), 'Read `error_description`, and mend the request.'],
        ['401', code('invalid_client'), 'The client is not known any more: step 3.'],
        ['—', code('access_denied'), 'The member said no. Do not ask again at once.'],
        ['429', '', 'Wait for `Retry-After` seconds.'],
        ['503', '', 'Wait for `Retry-After` seconds; the token is as good as before.'],
      ],
    ),
  ].join('\n\n');
}

function revocation({ config, endpoints }: DescribedService): readonly string[] {
  return [
    '## Revocation',
    'When the member disconnects, or you need no more access. Either token ends the whole connection (RFC 7009).',
    block('http', [
      `POST ${config.origin}${endpoints.revocation}`,
      'Content-Type: application/x-www-form-urlencoded',
      '',
      'token=<refresh_token>&client_id=<client_id>',
    ]),
  ];
}

function limits({ config }: DescribedService): string {
  const { limits: all, account, mcp } = config;
  const rate = (given: { readonly requests: number; readonly per: number } | undefined) =>
    given === undefined ? 'no limit' : `${given.requests} requests in ${durationText(given.per)}`;
  return [
    '## Limits',
    'Answers say in `RateLimit` and `RateLimit-Policy` how many requests are left. A route may have limits of its own.',
    table(
      ['Of', 'Limit'],
      [
        ['One member, with all apps', rate(all.member)],
        ['One app, for all members', rate(all.client)],
        ['One address, without a token', rate(all.address)],
        ['One address, failing at the token endpoint and its like', rate(all.attempts)],
        [
          'Body of a request to the HTTP API',
          Number.isFinite(all.requestBody) ? sizeText(all.requestBody) : 'no limit',
        ],
        ...(account === undefined ? [] : [['Body of a request to the Account API', sizeText(account.bodyLimit)]]),
        ...(mcp === undefined ? [] : [['Body of a message to the tools', sizeText(mcp.bodyLimit)]]),
      ],
    ),
  ].join('\n\n');
}

function help({ config }: DescribedService): readonly string[] {
  return config.pages.support === undefined
    ? []
    : ['## Help', `Members and developers find help at <${config.pages.support}>.`];
}
