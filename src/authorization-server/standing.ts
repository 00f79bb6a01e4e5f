import { GatewayError } from '../errors.ts';
import type { EndReason } from '../events/event.ts';
import type { LoginConnector, Member } from '../login/connector.ts';
import type { MemberCheck } from '../login/member-check.ts';
import type { Standing } from '../login/recheck.ts';
import { SIGN_IN_KIND } from '../login/sign-in-session.ts';
import type { Audit } from '../operations/audit.ts';
import type { Log } from '../operations/log.ts';
import { type Clock, jsonEntry, readJson, type Store } from '../storage/store.ts';
import type { Grants } from './grants.ts';

const KIND = 'MemberStanding';

/** What is remembered about a member between two checks. */
interface Known {
  /** The version the backend last reported. Every active grant is at least as new. */
  readonly version?: string | undefined;
  /** When the backend was last asked in the member's absence, in milliseconds since the epoch. */
  readonly askedAt?: number | undefined;
}

export interface StandingsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly grants: Pick<Grants, 'revokeAll'>;
  readonly audit: Audit;
  readonly log: Pick<Log, 'warn'>;
  /** Undefined if the backend cannot be asked in the member's absence. */
  readonly recheck: MemberCheck | undefined;
}

/**
 * Keeps track of what the backend says about its members, and ends their connections when they are gone, suspended or
 * changed. Every method throws GatewayError `store_unavailable`, and `login_unavailable` if the backend cannot answer.
 */
export function createStandings(options: StandingsOptions) {
  const { store, clock, grants, audit, log, recheck } = options;
  const asking = new Map<string, Promise<Standing | undefined>>();

  const known = async (sub: string) => (await readJson<Known>(store, KIND, sub)) ?? {};
  const remember = async (sub: string, what: Known): Promise<void> => {
    const entry = jsonEntry(KIND, sub, what, undefined);
    // A refresh waits for it.
    await store.commit([{ op: 'put', entry }], 'vital');
  };
  const end = async (sub: string, reason: EndReason, clientId: string | undefined): Promise<void> => {
    // An older sign-in would still use the member's old data.
    await store.commit([{ op: 'deleteBy', kind: SIGN_IN_KIND, name: 'member', value: sub }], 'vital');
    const ended = await grants.revokeAll({ member: sub }, { by: 'backend', reason });
    audit({ action: 'member_changed', by: 'backend', member: sub, reason, ended, clientId, grantId: undefined });
  };
  /**
   * Ends the grants before it remembers the version, so that a failure half way is noticed again. Returns whether the
   * version has changed.
   */
  const compare = async (sub: string, before: Known, now: Known, clientId?: string): Promise<boolean> => {
    const changed = before.version !== undefined && now.version !== undefined && before.version !== now.version;
    if (changed) await end(sub, 'version_changed', clientId);
    const next = { version: now.version ?? before.version, askedAt: now.askedAt ?? before.askedAt };
    if (next.version !== before.version || next.askedAt !== before.askedAt) await remember(sub, next);
    return changed;
  };
  /**
   * Concurrent checks of a member share one question. Resolves to undefined if the backend is unavailable and the
   * configuration allows that.
   */
  const ask = (sub: string, { ask: question, allowUnavailable }: NonNullable<StandingsOptions['recheck']>) => {
    const running = asking.get(sub);
    if (running !== undefined) return running;
    const answer = question(sub)
      .catch((thrown: unknown) => {
        const ill = thrown instanceof GatewayError && thrown.code === 'login_unavailable';
        if (!ill || !allowUnavailable) throw thrown;
        log.warn({ err: thrown }, 'a member could not be checked, and goes on as configured');
        return undefined;
      })
      .finally(() => asking.delete(sub));
    asking.set(sub, answer);
    return answer;
  };
  /** Returns why the member must be refused; undefined if there is no reason. */
  const check = async (sub: string, before: Known, clientId?: string): Promise<string | undefined> => {
    if (recheck === undefined) return undefined;
    const askedAt = clock();
    const standing = await ask(sub, recheck);
    if (standing === undefined) return undefined;
    if (standing.kind !== 'good') {
      await end(sub, `member_${standing.kind}`, clientId);
      return standing.kind;
    }
    return (await compare(sub, before, { version: standing.version, askedAt }, clientId)) ? 'changed' : undefined;
  };

  const met = async ({ sub, version }: Member): Promise<void> => {
    if (version !== undefined) await compare(sub, await known(sub), { version });
  };

  return {
    /** Wraps a connector: if a member arrives with a new version, all older grants are ended. */
    watched: (connector: LoginConnector): LoginConnector => ({
      ...connector,
      async identify(headers, from) {
        const member = await connector.identify(headers, from);
        if (member !== undefined) await met(member);
        return member;
      },
    }),

    /** Call for an identified member before our own sign-in begins. Older sign-ins end with the grants. */
    signedIn: met,

    /** Whether the backend lets a member sign in for an app. True if the backend cannot be asked. */
    async maySignIn({ sub }: Member): Promise<boolean> {
      if (recheck === undefined) return true;
      const verdict = await check(sub, await known(sub));
      // If the member has changed, the older connections have just been ended, and this sign-in uses the new data.
      return verdict === undefined || verdict === 'changed';
    },

    /** Whether a member's refresh token may be used by an app. If not, all the member's connections have been ended. */
    async mayContinue(sub: string, clientId: string | undefined): Promise<boolean> {
      if (recheck === undefined) return true;
      const before = await known(sub);
      const age = before.askedAt === undefined ? undefined : clock() - before.askedAt;
      // If the clock was set back, ask again rather than skip checks for a long time.
      if (age !== undefined && age >= 0 && age < recheck.interval * 1000) return true;
      return (await check(sub, before, clientId)) === undefined;
    },
  };
}

export type Standings = ReturnType<typeof createStandings>;
