import { revoke } from '../../support/app.ts';
import type { ProofKey } from '../../support/proof.ts';
import type { PluginWorld } from './plugin-world.ts';

/** What the cases send: the tokens of one way through the gate, so that its limits are its own. */
export interface Tokens {
  readonly member: string;
  /** Has no scope that a route needs. */
  readonly narrow: string;
  /** For a part of the origin only. */
  readonly part: string;
  /** Revoked before the cases. */
  readonly revoked: string;
  /** Of a member that no other way has. */
  readonly limited: string;
  readonly bound: string;
  readonly key: ProofKey;
}

/** The tokens of one way through the gate. Needs something that listens at the public origin. */
export async function tokensFor(world: PluginWorld, own: string, key: ProofKey): Promise<Tokens> {
  const revoked = await world.connect('m-1');
  await revoke(revoked.app, revoked.access_token);
  return {
    member: (await world.connect('m-1')).access_token,
    narrow: (await world.connect('m-1', { scope: 'openid' })).access_token,
    part: (await world.connect('m-1', { resource: `${world.origin}/part` })).access_token,
    revoked: revoked.access_token,
    limited: (await world.connect(`m-${own}`)).access_token,
    bound: (await world.connect('m-1', { key })).access_token,
    key,
  };
}
