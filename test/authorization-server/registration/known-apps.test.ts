import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../../support/world.ts';
import { call, MANY, mayRedirect } from './support.ts';

const CODE_AND_REFRESH = ['authorization_code', 'refresh_token'];

/**
 * The registrations that real apps send, as far as their source is public or their requests were recorded, and the
 * redirect URI in their authorization requests. On loopback, the port is an arbitrary free one.
 */
const APPS: readonly [string, Record<string, unknown>, string][] = [
  [
    'Claude',
    {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'openid profile email account:read courses:read',
    },
    'https://claude.ai/api/mcp/auth_callback',
  ],
  [
    'Claude Code',
    {
      client_name: 'Claude Code (school)',
      redirect_uris: ['http://localhost:54212/callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    'http://localhost:61001/callback',
  ],
  [
    'ChatGPT',
    {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      client_uri: 'https://chatgpt.com',
      logo_uri: null,
      contacts: null,
    },
    'https://chatgpt.com/connector_platform_oauth_redirect',
  ],
  [
    'VS Code',
    {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: [...CODE_AND_REFRESH, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      scope: 'courses:read account:read',
    },
    'http://127.0.0.1:49301/',
  ],
  [
    'Cursor',
    {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ],
  [
    'MCP Inspector',
    {
      redirect_uris: ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
      token_endpoint_auth_method: 'none',
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      scope: '',
    },
    'http://localhost:6274/oauth/callback/debug',
  ],
  [
    'Codex',
    {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:52044/callback'],
      grant_types: CODE_AND_REFRESH,
      token_endpoint_auth_method: 'none',
      response_types: ['code'],
    },
    'http://127.0.0.1:60412/callback',
  ],
  [
    'Zed',
    {
      client_name: 'Zed',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    'http://127.0.0.1:43117/callback',
  ],
  [
    'Gemini CLI',
    {
      client_name: 'Gemini CLI MCP Client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: '',
    },
    'http://localhost:7777/oauth/callback',
  ],
  [
    'Antigravity',
    {
      client_name: 'Antigravity',
      redirect_uris: ['https://antigravity.google/oauth-callback'],
      application_type: 'web',
    },
    'https://antigravity.google/oauth-callback',
  ],
  [
    'LibreChat, which writes the default of the RFC out',
    {
      client_name: 'LibreChat MCP Client',
      redirect_uris: ['https://chat.example/api/mcp/oauth/callback'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    'https://chat.example/api/mcp/oauth/callback',
  ],
  ['an app that says nothing but where it is', { redirect_uris: ['http://127.0.0.1/'] }, 'http://127.0.0.1:50000/'],
];

describe.each(['A', 'B'])('the registration of real apps in Profile %s', (profile) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile, overrides: MANY });
  });
  afterAll(() => world.close());

  it.each(APPS)('accepts %s, and its redirect URI', async (_name, metadata, redirectUri) => {
    const { status, body } = await call(world, 'POST', '/api/oauth/register', { body: metadata });
    expect(status).toBe(201);
    const confidential = ['client_secret_post', 'client_secret_basic'].includes(
      String(metadata.token_endpoint_auth_method),
    );
    expect(body).toMatchObject({
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      redirect_uris: metadata.redirect_uris,
      token_endpoint_auth_method: confidential ? 'client_secret_post' : 'none',
      grant_types:
        metadata.grant_types === undefined ? CODE_AND_REFRESH : expect.arrayContaining(['authorization_code']),
      response_types: ['code'],
      registration_client_uri: `${world.origin}/api/oauth/register/${body.client_id}`,
      registration_access_token: expect.any(String),
    });
    for (const grant of body.grant_types as string[]) expect(CODE_AND_REFRESH).toContain(grant);
    expect(Object.hasOwn(body, 'client_secret')).toBe(confidential);
    expect(Object.values(body)).not.toContain(null);
    expect(await mayRedirect(world, body.client_id, redirectUri)).toBe(true);
  });
});
