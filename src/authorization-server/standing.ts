import { GatewayError } from '../errors.ts';
import type { EndReason } from '../events/event.ts';
import type { LoginConnector, Member, Standing } from '../login/connector.ts';
import type { MemberCheck } from '../login/member-check.ts';
import { SIGN_IN_KIND } from '../login/sign-in-session.ts';
import type { Audit } from '../operations/audit.ts';
import type { Log } from '../operations/log.ts';
import { type Clock, jsonEntry, readJson, type Store } from '../storage/store.ts';
import type { Grants } from './grants.ts';
import { versionDigest } from './version-digest.ts';

const KIND = 'MemberStanding';

/** What is remembered about a member between two checks. */
interface Known {
  /** Of the version that the backend last reported. Every active grant is at least as new. */
  readonly digest?: string | undefined;
  /** What the member typed at the last sign-in, if the login finds them by it. */
  readonly login?: string | undefined;
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
  const digestOf = versionDigest(store);
  const digest = async (version: string | undefined) => (version === undefined ? undefined : digestOf(version));

  const known = async (sub: string): Promise<Known> => (await readJson<Known>(store, KIND, sub)) ?? {};
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
    const changed = before.digest !== undefined && now.digest !== undefined && before.digest !== now.digest;
    if (changed) await end(sub, 'version_changed', clientId);
    const next: Known = {
      digest: now.digest ?? before.digest,
      login: now.login ?? before.login,
      askedAt: now.askedAt ?? before.askedAt,
    };
    const isNew = next.digest !== before.digest || next.login !== before.login || next.askedAt !== before.askedAt;
    // A refresh waits for it.
    if (isNew) await store.commit([{ op: 'put', entry: jsonEntry(KIND, sub, next, undefined) }], 'vital');
    return changed;
  };
  /**
   * Concurrent checks of a member share one question. Resolves to undefined if the backend is unavailable and the
   * configuration allows that.
   */
  const ask = (sub: string, login: string | undefined, { ask: question, allowUnavailable }: MemberCheck) => {
    const running = asking.get(sub);
    if (running !== undefined) return running;
    const answer = question(sub, login)
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
    // What is asked each time needs no time to be remembered, and no commit.
    const askedAt = recheck.interval === 0 ? undefined : clock();
    const standing = await ask(sub, before.login, recheck);
    if (standing === undefined) return undefined;
    if (standing.kind !== 'good') {
      await end(sub, `member_${standing.kind}`, clientId);
      return standing.kind;
    }
    const now = { digest: await digest(standing.version), askedAt };
    return (await compare(sub, before, now, clientId)) ? 'changed' : undefined;
  };

  /** Returns the member as they may be stored: with a digest of the version, and without the login. */
  const met = async ({ login, ...member }: Member): Promise<Member> => {
    const { sub } = member;
    const version = await digest(member.version);
    if (version !== undefined || login !== undefined) await compare(sub, await known(sub), { digest: version, login });
    return { ...member, version };
  };

  return {
    /** Wraps a connector: if a member arrives with a new version, all older grants are ended. */
    watched: (connector: LoginConnector): LoginConnector => ({
      ...connector,
      async identify(headers, from) {
        const member = await connector.identify(headers, from);
        return member === undefined ? undefined : met(member);
      },
    }),

    /**
     * Call for an identified member before our own sign-in begins, which stores the member that this returns. Older
     * sign-ins end with the grants.
     */
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
