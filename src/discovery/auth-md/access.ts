import { sizeText } from '../../http/amounts.ts';
import type { DescribedService } from '../described-service.ts';
import { textOf } from '../described-service.ts';
import { block, code, codes, durationText, formBlock, plain, table } from './markdown.ts';
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
      : ` A token for ${codes(others)} gives access to that part only: to get one, send its URL instead of the origin.`;
  return config.resourceIndicator === 'required'
    ? `\`resource\` (RFC 8707) is required, here and when you exchange the code: ${code(origin)}. A refresh without it keeps the resource of the refresh token.${narrower}`
    : `\`resource\` (RFC 8707) is optional; without it, the token is for ${code(origin)}.${narrower}`;
}

function authorize(service: DescribedService): readonly string[] {
  const { config, endpoints } = service;
  const { origin } = config;
  const optional = config.resourceIndicator === 'optional' ? ' (optional)' : '';
  return [
    '## 4. Authorize',
    `Create a PKCE verifier and its S256 challenge, and open this URL in the member’s browser: GET ${code(origin + endpoints.authorization)} with`,
    table([
      ['Parameter', 'Value'],
      ['`response_type`', code('code')],
      ['`client_id`', 'yours'],
      ['`redirect_uri`', 'one of yours'],
      ['`scope`', 'the scopes that you need, separated by spaces: see Scopes'],
      ['`code_challenge`', 'the challenge'],
      ['`code_challenge_method`', code('S256')],
      ['`state`', 'a random string'],
      [`\`resource\`${optional}`, code(origin)],
    ]),
    resourceLine(service),
    `The member signs in, sees which app asks for what, and may allow less. The browser is then redirected to \`redirect_uri\` with \`code\`, \`state\` and \`iss\`: check that \`state\` is the one you sent and that \`iss\` is ${code(origin)} (RFC 9207). A code is valid for ${durationText(config.tokens.code)} (${code(String(config.tokens.code))} seconds). The parameters can be pushed to ${code(origin + endpoints.pushedAuthorization)} (RFC 9126).`,
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
      ? 'A code or refresh token that is used twice ends the connection.'
      : `The same refresh within ${durationText(tokens.replayWindow)} gets the same response; a refresh token that is used again after that ends the connection. A code works once: a second exchange is always refused, and later ends the connection as well.`;
  return [
    '## 5. Exchange and refresh',
    'Send forms, with every value percent-encoded. Confidential clients add `client_secret`.',
    formBlock(
      url,
      `grant_type=authorization_code&code=<code>&redirect_uri=<redirect_uri>&client_id=<client_id>&code_verifier=<code_verifier>${rest}`,
    ),
    formBlock(url, `grant_type=refresh_token&refresh_token=<refresh_token>&client_id=<client_id>${rest}`),
    table([
      ['What', 'Lifetime', 'Seconds'],
      ['Access token', durationText(tokens.access), code(String(tokens.access))],
      ['Refresh token, unused', durationText(tokens.refresh), code(String(tokens.refresh))],
      [
        'Connection, however often it is refreshed',
        durationText(tokens.refreshAbsolute),
        code(String(tokens.refreshAbsolute)),
      ],
    ]),
    `Each refresh returns a new refresh token, which replaces the old one. ${replay} Tokens are opaque: ${code(origin + endpoints.introspection)} introspects your own tokens (RFC 7662). ${dpopText()}`,
  ];
}

function use(service: DescribedService): readonly string[] {
  const { config, mcp, endpoints } = service;
  const { origin, account } = config;
  const open = config.routes.some((route) => (route.anonymous ?? config.anonymous) === 'serve');
  const anonymous = open
    ? 'A request without a token is served anonymously where the OpenAPI document allows it (`{}` in `security`), and otherwise answered with 401. A request with an invalid token is always refused.'
    : 'A request without a token is answered with 401.';
  return [
    '## 6. Use',
    'Send the access token in the header, never in a URL:',
    block([`GET ${origin}${endpoints.userinfo}`, 'Authorization: Bearer <access_token>']),
    anonymous,
    ...(account === undefined
      ? []
      : [
          `**Account API.** GraphQL, with a token that has ${code('account:read')}; there is no anonymous mode. Introspection is ${account.introspection ? 'enabled: query it for the schema' : 'disabled'}.`,
          block([
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
  const listing =
    config.mcp?.signIn === 'on-call'
      ? 'All tools are listed for everyone; calling a tool that needs a member is answered with 401 or 403 and a challenge.'
      : 'Without a token, the public tools are listed and there is no challenge; with a token, all tools are listed. Calling one whose scopes the token lacks is answered with 403 and a challenge.';
  return [
    `**Tools.** The Model Context Protocol over HTTP at ${code(config.origin + mcp.open)}, with or without a token. ${listing} At ${code(config.origin + mcp.member)} the same tools always require a token, for clients that sign in only after a 401.`,
    block([
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
    ({ path, scopes: of }) => `A token for ${code(config.origin + path)} can only have ${codes(of)}.`,
  );
  const words =
    'Start with the scopes that the protected resource metadata lists, or with fewer: reading needs no others. Request a scope for changes when you need it: a 403 names it. The member sees each scope as a sentence, and can deselect any of them.';
  return ['## Scopes', [words, ...parts].join(' '), table([['Scope', 'Description'], ...rows])].join('\n\n');
}

function errors({ config }: DescribedService): string {
  return [
    '## Errors',
    table([
      ['Status', '`error`', 'What to do'],
      ['401', code('invalid_token'), 'Refresh once. If that fails, start again at step 4.'],
      ['403', code('insufficient_scope'), 'Repeat step 4 with the scopes that `WWW-Authenticate` names.'],
      ['400', code('invalid_grant'), 'The code or refresh token was used or has expired: repeat step 4.'],
      ['400', code('invalid_target'), `Send ${code(`resource=${config.origin}`)}.`],
      ['400', code('invalid_scope'), 'Request only scopes of the table above.'],
      ['400', code('invalid_request'), 'Read `error_description` and fix the request.'],
      ['401', code('invalid_client'), 'The client is unknown, or no longer known: repeat step 3.'],
      ['—', code('access_denied'), 'The member refused. Do not ask again right away.'],
      ['403', code('access_denied'), 'No new apps are accepted at the moment. Tell the member.'],
      ['429', '', 'Wait for `Retry-After` seconds.'],
      ['503', '', 'Wait for `Retry-After` seconds; the token remains valid.'],
    ]),
  ].join('\n\n');
}

function revocation({ config, endpoints }: DescribedService): readonly string[] {
  return [
    '## Revocation',
    'Revoke your tokens when the member disconnects the app, or when you no longer need access. Revoking either token ends the whole connection (RFC 7009).',
    formBlock(config.origin + endpoints.revocation, 'token=<refresh_token>&client_id=<client_id>'),
  ];
}

function limits({ config }: DescribedService): string {
  const { limits: all, account, mcp } = config;
  const rate = (given: { readonly requests: number; readonly per: number } | undefined) =>
    given === undefined ? 'no limit' : `${given.requests} requests per ${durationText(given.per).replace(/^1 /, '')}`;
  return [
    '## Limits',
    'Responses report the remaining requests in `RateLimit` and `RateLimit-Policy`. A route may have additional limits.',
    table([
      ['What', 'Limit'],
      ['Requests of one member, with all apps', rate(all.member)],
      ['Requests of one app, for all members', rate(all.client)],
      ['Requests from one address, without a token', rate(all.address)],
      ['Failed requests from one address, at the token endpoint and similar ones', rate(all.attempts)],
      ['Body of a request to the HTTP API', Number.isFinite(all.requestBody) ? sizeText(all.requestBody) : 'no limit'],
      ...(account === undefined ? [] : [['Body of a request to the Account API', sizeText(account.bodyLimit)]]),
      ...(mcp === undefined ? [] : [['Body of a message to the tools', sizeText(mcp.bodyLimit)]]),
    ]),
  ].join('\n\n');
}

function help({ config }: DescribedService): readonly string[] {
  return config.pages.support === undefined
    ? []
    : ['## Help', `Members and developers find help at <${config.pages.support}>.`];
}
