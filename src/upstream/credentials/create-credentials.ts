// How the gate authenticates members to a backend that does not read its identity headers: with the member's own
// session (session-replay.ts), a token minted for the member (member-tokens.ts), or one shared key.

import type { Share } from '../../config/carried-over.ts';
import { requiredSecret } from '../../config/read-secrets.ts';
import type { Config, UpstreamConfig } from '../../config/schema.ts';
import type { CallUpstream } from '../request.ts';
import { type Credential, type CredentialOf, fieldValue } from './credential.ts';
import { memberTokens, mintedTokens } from './member-tokens.ts';
import { lookedAtSessions, type SessionReplayOptions, sessionReplay } from './session-replay.ts';
import type { KeyCredential } from './settings.ts';

export interface CredentialsOptions
  extends Pick<SessionReplayOptions, 'sessions' | 'ended' | 'owner' | 'origin' | 'clock'> {
  readonly upstreams: Config['upstreams'];
  /** The secrets that `upstreams` refers to, by the configuration path that names them. */
  readonly secrets: ReadonlyMap<string, string>;
  /**
   * The configuration of the lookup that tells whose session it is; if it changes, carried-over results are dropped.
   */
  readonly asked: unknown;
  /** The members' sign-in page: a path or an absolute URL. */
  readonly loginUrl: string;
  readonly call: CallUpstream;
  /** Caches carried over from an earlier configuration, for upstreams whose credential has not changed. */
  readonly share: Share;
}

/** Creates the credential of each upstream that has one configured. */
export function createCredentials(options: CredentialsOptions): CredentialOf {
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
  switch (config.kind) {
    case 'session': {
      const loginPath = new URL(options.loginUrl, options.origin).pathname;
      const from = [config, options.upstreams[upstream]?.url, options.asked];
      const lookedAt = options.share.acquire(`sessions at ${upstream}`, from, lookedAtSessions);
      return sessionReplay({ ...options, config, upstream, loginPath, lookedAt });
    }
    case 'token': {
      const { call, clock } = options;
      const key = options.secrets.get(`upstreams.${upstream}.credential.mint.key.secret`);
      const minting = config.mint.upstream ?? upstream;
      const from = [config, options.upstreams[minting]?.url, key];
      const minted = options.share.acquire(`tokens for ${upstream}`, from, mintedTokens);
      return memberTokens({ config, upstream: minting, key, call, clock, minted });
    }
    case 'key':
      return serviceKey(config, requiredSecret(options.secrets, `upstreams.${upstream}.credential.secret`));
  }
}

/**
 * One secret shared by all members. Configuration loading checks that such routes only give access to a member's own
 * records. The key is therefore also sent with public requests, which have no member.
 */
function serviceKey({ header, query, scheme }: KeyCredential, secret: string): Credential {
  const attempt = {
    fields: header === undefined ? {} : { [header]: fieldValue(header, scheme, secret) },
    ...(query === undefined ? {} : { query: { name: query, value: fieldValue('', scheme, secret) } }),
  };
  return { attempt: () => attempt };
}
