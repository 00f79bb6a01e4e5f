import type { SessionLoginConfig } from '../config/session-login.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { LoginConnector } from './connector.ts';
import { askWhoami } from './session-owner.ts';

/**
 * The `session` connector: the backend's own cookie, asked at its own whoami URL. Only the listed cookies are sent, and
 * no redirect is followed. Nothing is remembered between two calls: who signed out, or was signed in in their place, is
 * found out at once.
 */
export function sessionConnector(config: SessionLoginConfig, origin: string, call: CallUpstream): LoginConnector {
  const ask = askWhoami(config, call);
  return {
    identify: async (headers) => (await ask(headers.cookie ?? '')).member,

    signInUrl(returnTo, { loginHint, uiLocales }) {
      const url = new URL(config.loginUrl, origin);
      // On the backend's own origin most sites take a path only: an absolute URL looks to them like an open redirect.
      const format = config.returnFormat ?? (url.origin === returnTo.origin ? 'path' : 'url');
      const value = format === 'path' ? `${returnTo.pathname}${returnTo.search}` : returnTo.href;
      url.searchParams.set(config.returnParam, value);
      if (config.hintParam !== undefined && loginHint !== undefined) url.searchParams.set(config.hintParam, loginHint);
      if (config.localesParam !== undefined && uiLocales !== undefined) {
        url.searchParams.set(config.localesParam, uiLocales);
      }
      return url;
    },
  };
}
