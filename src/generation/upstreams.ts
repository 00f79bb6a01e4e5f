import { storedBackendSessions } from '../authorization-server/backend-sessions.ts';
import type { Share } from '../config/carried-over.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { loginPage } from '../login/kinds.ts';
import { sessionOwner } from '../login/open-login.ts';
import { createCallUpstream } from '../upstream/call.ts';
import type { CredentialsOptions } from '../upstream/credentials/create-credentials.ts';
import { type CredentialOf, NO_CREDENTIALS } from '../upstream/credentials/credential.ts';
import { keptCookies } from '../upstream/credentials/settings.ts';
import { createForward } from '../upstream/forward.ts';
import { createIdentity } from '../upstream/identity.ts';
import { createPools } from '../upstream/pools.ts';
import type { UpstreamAccess } from '../upstream/request.ts';
import { createSite } from '../upstream/site.ts';

/** The ways to reach upstreams: forwarding admitted requests, calls by the gate itself, and the site lane. */
export type UpstreamLanes = Awaited<ReturnType<typeof openLanes>>;

interface LaneUses {
  /** State carried over from an earlier configuration; released together with the pools. */
  readonly share: Share;
  /** Called when a session at the backend is over, to end the connection here. */
  readonly ended: CredentialsOptions['ended'];
}

export async function openLanes(
  { store, clock, keyring, metrics }: Pick<Foundation, 'store' | 'clock' | 'keyring' | 'metrics'>,
  { config, secrets, asserts = config.origin }: LoadedConfig,
  { share, ended }: LaneUses,
) {
  const { origin, upstreams, login, site } = config;
  const pools = createPools(upstreams, undefined, share, metrics.unanswered);
  const identity = createIdentity({
    issuer: asserts,
    signingKey: async () => keyring.signing(),
    kid: () => keyring.signing().kid,
    clock,
  });
  const cookies = keptCookies(upstreams);
  const sessions = storedBackendSessions(store, cookies ?? []);
  const access: UpstreamAccess = { upstreams, pools, identity, origin, credentials: (name) => credentials(name) };
  const call = createCallUpstream(access, metrics.called);
  const credentials = await credentialsFor({
    upstreams,
    secrets,
    sessions,
    ended,
    owner: sessionOwner(login, upstreams, call),
    asked: login,
    share,
    loginUrl: loginPage(login) ?? origin,
    call,
    origin,
    clock,
  });
  return {
    pools,
    forward: createForward(access),
    identity,
    call,
    /** Undefined when there is no site: requests that no route claims are then answered 404. */
    site: site === undefined ? undefined : createSite(access, site.upstream),
    /** Members' own sessions at the backend; undefined when no upstream receives them. */
    sessions: cookies && sessions,
  };
}

/** The credentials of the upstreams. Their code is loaded only if there are any. */
async function credentialsFor(options: CredentialsOptions): Promise<CredentialOf> {
  if (Object.values(options.upstreams).every(({ credential }) => credential === undefined)) return NO_CREDENTIALS;
  const { createCredentials } = await import('../upstream/credentials/create-credentials.ts');
  return createCredentials(options);
}
