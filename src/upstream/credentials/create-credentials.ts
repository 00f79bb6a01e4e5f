import type { Config, UpstreamConfig } from '../../config/schema.ts';
import type { CallUpstream } from '../request.ts';
import type { Credential, Credentials } from './credential.ts';
import { memberTokens } from './member-tokens.ts';
import { serviceKey } from './service-key.ts';
import { type SessionReplayOptions, sessionReplay } from './session-replay.ts';

export interface CredentialsOptions
  extends Pick<SessionReplayOptions, 'sessions' | 'ended' | 'owner' | 'origin' | 'clock'> {
  readonly upstreams: Config['upstreams'];
  /** The secrets that `upstreams` names, by where they are named. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The page that members sign in on: a path, or a whole URL. */
  readonly loginUrl: string;
  readonly call: CallUpstream;
}

/** The credential of each upstream that is configured for one. */
export function createCredentials(options: CredentialsOptions): Credentials {
  const made = new Map(
    Object.entries(options.upstreams).flatMap(([name, { credential }]): [string, Credential][] =>
      credential === undefined ? [] : [[name, credentialOf(name, credential, options)]],
    ),
  );
  return (upstream) => made.get(upstream);
}

function credentialOf(
  upstream: string,
  config: NonNullable<UpstreamConfig['credential']>,
  options: CredentialsOptions,
): Credential {
  const secretAt = (place: string) => options.secrets.get(`upstreams.${upstream}.credential.${place}`);
  switch (config.kind) {
    case 'session': {
      const loginPath = new URL(options.loginUrl, options.origin).pathname;
      return sessionReplay({ ...options, config, upstream, loginPath });
    }
    case 'token': {
      const { call, clock } = options;
      const key = secretAt('mint.key.secret');
      return memberTokens({ config, upstream: config.mint.upstream ?? upstream, key, call, clock });
    }
    case 'key':
      return serviceKey(config, secretAt('secret') ?? '');
  }
}

/** The cookies that any upstream wants kept, by names with `*`; undefined when none does. */
export function keptCookies(upstreams: Config['upstreams']): readonly string[] | undefined {
  const cookies = Object.values(upstreams).flatMap(({ credential }) =>
    credential?.kind === 'session'
      ? [...credential.cookies, ...(credential.csrf === undefined ? [] : [credential.csrf.cookie])]
      : [],
  );
  return cookies.length === 0 ? undefined : cookies;
}
