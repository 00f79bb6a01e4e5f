/**
 * The paths of all endpoints, fixed by the contract. Clients read them from metadata; no other code spells them out.
 */
export const ENDPOINTS = {
  authorization: '/oauth/authorize',
  interaction: '/oauth/interaction',
  apps: '/oauth/apps',
  approvals: '/oauth/apps/approvals',
  signIn: '/oauth/sign-in',
  handOver: '/oauth/hand-over',
  stylesheet: '/oauth/assets/pages.css',
  logo: '/oauth/assets/logo',
  pushedAuthorization: '/api/oauth/par',
  token: '/api/oauth/token',
  userinfo: '/api/oauth/userinfo',
  revocation: '/api/oauth/revoke',
  introspection: '/api/oauth/introspect',
  registration: '/api/oauth/register',
  jwks: '/.well-known/jwks.json',
  authorizationServerMetadata: '/.well-known/oauth-authorization-server',
  openidConfiguration: '/.well-known/openid-configuration',
} as const;
