import type { LoadedConfig } from '../../../config/load.ts';
import { once } from '../../../http/once.ts';
import { type ConnectOptions, type MemberConnection, openConnection } from '../../connect/connection.ts';
import { explain } from '../../connect/oauth/explain.ts';
import { Unavailable } from '../unavailable.ts';
import type { AdminAccess, Installation, TriedSignIn } from './installation.ts';

/** How the operator signs in as a member. */
export type MemberSignIn = Pick<ConnectOptions, 'open' | 'print' | 'wait' | 'timeout'>;

/** Signs in with every scope that changes nothing. Does not throw: a failed sign-in is an outcome. */
export async function trySignIn(
  { config }: LoadedConfig,
  { admin, signal, ...signIn }: MemberSignIn & { readonly admin: AdminAccess; readonly signal: AbortSignal },
): Promise<TriedSignIn> {
  const wanted = Object.entries(config.scopes).flatMap(([token, { kind }]) => (kind === 'write' ? [] : [token]));
  const options = { ...signIn, url: config.origin, name: 'coursegate doctor', wanted, mostRead: 100, signal };
  const before = await refusals(admin);
  const outcome = await openConnection({ ...options, result: () => undefined }).catch((thrown: unknown) =>
    explain(thrown, 'The sign-in'),
  );
  const after = await refusals(admin);
  return {
    outcome,
    refused: (reason) => (after.get(reason) ?? 0) - (before.get(reason) ?? 0),
    close: once(async () =>
      !('close' in outcome) || (await outcome.close()) ? [] : [outcome.run.client.at[1].client_id],
    ),
  };
}

async function refusals(admin: AdminAccess): Promise<ReadonlyMap<string, number>> {
  const { text } = await admin.ask('/metrics').catch(() => ({ text: '' }));
  const counted = text.matchAll(/^coursegate_sign_ins_total\{[^}]*outcome="(\w+)"[^}]*\} (\d+)$/gm);
  return new Map([...counted].map(([, reason = '', count]) => [reason, Number(count)]));
}

/** Throws Unavailable if no member has signed in. */
export function connectionOf({ signIn }: Pick<Installation, 'signIn'>): MemberConnection {
  if (signIn === undefined || !('close' in signIn.outcome)) throw new Unavailable('no member has signed in');
  return signIn.outcome;
}
