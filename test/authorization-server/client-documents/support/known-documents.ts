interface KnownDocument {
  readonly app: string;
  /** The document it publishes, as recorded in autumn 2026. */
  readonly document: Readonly<Record<string, unknown>> & { readonly client_id: string };
  /** The redirect URIs in its requests. */
  readonly used: readonly string[];
}

/** The documents of real apps, and the redirect URIs they use. */
export const KNOWN_DOCUMENTS: readonly KnownDocument[] = [
  {
    app: 'Claude',
    document: {
      client_id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: ['https://claude.ai/api/mcp/auth_callback'],
  },
  {
    app: 'Claude Code',
    document: {
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: ['http://localhost:54321/callback', 'http://127.0.0.1:8123/callback', 'http://localhost/callback'],
  },
  {
    app: 'ChatGPT',
    document: {
      client_id: 'https://chatgpt.com/oauth/client.json',
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
    used: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  },
  {
    app: 'Codex',
    document: {
      client_id: 'https://chatgpt.com/oauth/codex/client.json',
      client_name: 'Codex',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: ['http://127.0.0.1:1455/callback', 'http://localhost:1455/callback'],
  },
  {
    app: 'Codex with an id',
    document: {
      client_id: 'https://chatgpt.com/oauth/codex/a1b2c3/client.json',
      client_name: 'Codex',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback/a1b2c3', 'http://localhost/callback/a1b2c3'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: ['http://127.0.0.1:49152/callback/a1b2c3'],
  },
  {
    app: 'VS Code',
    document: {
      client_id: 'https://vscode.dev/oauth/client-metadata.json',
      client_name: 'Visual Studio Code',
      client_uri: 'https://vscode.dev/product',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: ['http://127.0.0.1:33418/', 'http://127.0.0.1:60123/', 'https://vscode.dev/redirect'],
  },
  {
    app: 'Zed',
    document: {
      client_id: 'https://zed.dev/oauth/client-metadata.json',
      client_name: 'Zed',
      client_uri: 'https://zed.dev',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: ['http://127.0.0.1:50001/callback'],
  },
  {
    app: 'an app that says the least',
    document: {
      client_id: 'https://apps.example/client.json',
      client_name: 'Least',
      redirect_uris: ['https://apps.example/callback'],
    },
    used: ['https://apps.example/callback'],
  },
];
