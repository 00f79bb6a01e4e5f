import type { LoginConnector } from './connector.ts';
import type { SiteSignInPage } from './settings.ts';

/** Where a browser is sent to sign in on the site's own page. `origin` is that of the gate. */
export function siteSignInUrl(
  { loginUrl, returnParam, hintParam }: SiteSignInPage,
  origin: string,
): LoginConnector['signInUrl'] {
  return (returnTo, { loginHint }) => {
    const url = new URL(loginUrl, origin);
    // Most sites only accept a path for their own origin: an absolute URL looks like an open redirect to them.
    const value = url.origin === returnTo.origin ? `${returnTo.pathname}${returnTo.search}` : returnTo.href;
    url.searchParams.set(returnParam, value);
    if (hintParam !== undefined && loginHint !== undefined) url.searchParams.set(hintParam, loginHint);
    return url;
  };
}
