import type { KoaContextWithOIDC } from 'oidc-provider';
import type { RefusedApp } from './pages/error.ts';

/** The app of a refused request, if it is known. Its host is included only if the redirect URI is registered. */
export function refusedApp(ctx: KoaContextWithOIDC): RefusedApp | undefined {
  const { client, params } = ctx.oidc;
  if (client === undefined) return undefined;
  const redirectUri = params?.redirect_uri;
  const registered = typeof redirectUri === 'string' && client.redirectUriAllowed(redirectUri);
  return {
    name: client.clientName ?? client.clientId,
    host: registered ? URL.parse(redirectUri)?.host || undefined : undefined,
  };
}
