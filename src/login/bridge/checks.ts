import { randomBytes } from 'node:crypto';
import { pagesOrigin } from '../../config/pages.ts';
import { requiredSecret } from '../../config/read-secrets.ts';
import { isRedirect, redirectTarget, type SiteAnswer } from '../../operator/doctor/answer.ts';
import { beginSignIn } from '../../operator/doctor/backend/begin-sign-in.ts';
import { type InstallationWith, loginChecks } from '../../operator/doctor/backend/check.ts';
import { failure, pass } from '../../operator/doctor/finding.ts';
import { bridgeProvider } from './connector.ts';

export const BRIDGE = loginChecks('bridge', {
  async 'signin.bridge'(installation) {
    const answer = await askBridge(installation, requiredSecret(installation.loaded.secrets, 'login.secret'));
    if (answer.status >= 400) return failure(`it answers ${answer.status} to a request with a valid signature`);
    const target = redirectTarget(answer);
    if (target?.pathname.startsWith('/oauth/') === true && target.searchParams.has('sso'))
      return failure('it returns a member although no one is signed in');
    return pass(target === undefined ? `it answers ${answer.status}` : `it redirects to ${target.pathname}`);
  },
  async 'signin.bridge-forged'(installation) {
    const answer = await askBridge(installation, randomBytes(32).toString('hex'));
    if (answer.status >= 400 && answer.status < 500) return pass(`${answer.status}`);
    return failure(`it answers ${answer.status} to a request that is signed with another secret`);
  },
});

/** The answer of the bridge to a browser without cookies. */
async function askBridge({ config, pages }: InstallationWith<'bridge'>, secret: string): Promise<SiteAnswer> {
  const { login, origin } = config;
  const { url } = await beginSignIn(bridgeProvider(login, origin, secret), pagesOrigin(config));
  const answer = await pages.get(url);
  const target = isRedirect(answer) ? redirectTarget(answer) : undefined;
  // A redirect to the same address, such as to https or with a final slash.
  return target !== undefined && target.searchParams.get('sso') === url.searchParams.get('sso') && samePage(target, url)
    ? pages.get(target)
    : answer;
}

function samePage(one: URL, other: URL): boolean {
  return one.pathname.replace(/\/$/, '') === other.pathname.replace(/\/$/, '') && one.search === other.search;
}
