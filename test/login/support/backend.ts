import { generateKeyPair } from 'jose';
import type { LoginConnector, Member } from '../../../src/login/connector.ts';
import { sessionConnector } from '../../../src/login/session/connector.ts';
import { sessionLogin } from '../../../src/login/session/settings.ts';
import { createLog } from '../../../src/operations/log.ts';
import { createCallUpstream } from '../../../src/upstream/call.ts';
import { createIdentity } from '../../../src/upstream/identity.ts';
import { createPools } from '../../../src/upstream/pools.ts';
import type { CallUpstream } from '../../../src/upstream/request.ts';
import { upstreamConfig } from '../../support/upstream-config.ts';

export const ORIGIN = 'https://school.example';

type Settings = Readonly<Record<string, unknown>>;

/** The session connector in front of a backend at `url`, built as from the configuration. */
export interface Connected {
  /** Calls the upstream `school`. */
  readonly call: CallUpstream;
  /** A connector with overrides for `login`. */
  connector(settings?: Settings): LoginConnector;
  /** The member signed in with `school_session=mine`, with overrides for `login.whoami`. */
  who(whoami?: Settings): Promise<Member | undefined>;
  close(): Promise<void>;
}

/** Connects to a backend at `url`, which may take `timeout` milliseconds. */
export async function connectedTo(url: string, timeout = 10_000): Promise<Connected> {
  const upstreams = {
    school: upstreamConfig(url, { timeout: timeout / 1000, breaker: { failures: 0, cooldown: 5 } }),
  };
  const pools = createPools(upstreams);
  const { privateKey } = await generateKeyPair('ES256');
  const identity = createIdentity({
    issuer: ORIGIN,
    signingKey: async () => ({ kid: 'k1', key: privateKey }),
    clock: Date.now,
  });
  const call = createCallUpstream({ upstreams, pools, identity, origin: ORIGIN });
  const connector = (settings: Settings = {}) =>
    sessionConnector(
      sessionLogin.parse({
        kind: 'session',
        upstream: 'school',
        whoami: { path: '/api/me' },
        loginUrl: '/login',
        cookies: ['school_session', 'remember'],
        ...settings,
      }),
      { origin: ORIGIN, call, clock: Date.now, claims: {}, log: createLog('silent', 2) },
      url,
    );
  return {
    call,
    connector,
    who: (whoami = {}) =>
      connector({ whoami: { path: '/api/me', ...whoami } }).identify(
        { cookie: 'school_session=mine' },
        { trusted: false },
      ),
    close: () => pools.close(),
  };
}
