import { GatewayError } from '../errors.ts';
import type { EndReason } from '../events/event.ts';
import type { LoginConnector, Member } from '../login/connector.ts';
import type { MemberCheck } from '../login/member-check.ts';
import type { Standing } from '../login/recheck.ts';
import { SIGN_IN_KIND } from '../login/sign-in-session.ts';
import type { Audit } from '../operations/audit.ts';
import type { Log } from '../operations/log.ts';
import type { Clock, Store } from '../storage/store.ts';
import type { Grants } from './grants.ts';

const KIND = 'MemberStanding';

/** What is remembered of a member from one question to the next. */
interface Known {
  /** As the backend told it last; every grant that stands is at least as new. */
  readonly version?: string | undefined;
  /** When it was asked without the member: milliseconds since the epoch. */
  readonly askedAt?: number | undefined;
}

/** The request that it came to light in. */
interface Occasion {
  readonly clientId: string | undefined;
  readonly requestId: string | undefined;
}

const NO_OCCASION: Occasion = { clientId: undefined, requestId: undefined };

/** The backend's word on its members, kept: what they let in ends when they are gone, suspended or have changed. */
export interface Standings {
  /** The same connector; a member who comes with another version than before has had all older grants ended. */
  watched(connector: LoginConnector): LoginConnector;
  /** In: a member who has just shown who they are, before a sign-in of ours begins: older ones end with the grants. */
  signedIn(member: Member): Promise<void>;
  /** In: a member who signs in on the way to an app. Out: whether the backend lets them, where it can be asked. */
  maySignIn(member: Member): Promise<boolean>;
  /** In: the member of a refresh token. Out: whether it may be used; if not, everything the member let in has ended. */
  mayContinue(sub: string, occasion: Occasion): Promise<boolean>;
}
// Every method throws GatewayError `store_unavailable`, and `login_unavailable` when the backend cannot say.

export interface StandingsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly grants: Pick<Grants, 'revokeAll'>;
  readonly audit: Audit;
  readonly log: Pick<Log, 'warn'>;
  /** Undefined: the backend cannot be asked without the member. */
  readonly recheck: MemberCheck | undefined;
}

export function createStandings(options: StandingsOptions): Standings {
  const { store, clock, grants, audit, log, recheck } = options;
  const asking = new Map<string, Promise<Standing | undefined>>();

  const known = async (sub: string): Promise<Known> => {
    const entry = await store.get(KIND, sub);
    return entry === undefined ? {} : (JSON.parse(entry.payload) as Known);
  };
  const remember = async (sub: string, what: Known): Promise<void> => {
    const entry = { kind: KIND, id: sub, payload: JSON.stringify(what), expiresAt: undefined, references: {} };
    // A refresh waits for it.
    await store.commit([{ op: 'put', entry }], 'vital');
  };
  const end = async (sub: string, reason: EndReason, { clientId, requestId }: Occasion): Promise<void> => {
    // A sign-in of ours that is older knows an older member.
    await store.commit([{ op: 'deleteBy', kind: SIGN_IN_KIND, name: 'member', value: sub }], 'vital');
    const ended = await grants.revokeAll({ member: sub }, { by: 'backend', reason });
    const event = { action: 'member_changed', by: 'backend', member: sub, reason, ended } as const;
    audit({ ...event, clientId, requestId, grantId: undefined, address: undefined });
  };
  /** Ends first and remembers then: what fails half way is found again. Out: whether the version was another. */
  const compare = async (sub: string, before: Known, now: Known, occasion: Occasion): Promise<boolean> => {
    const changed = before.version !== undefined && now.version !== undefined && before.version !== now.version;
    if (changed) await end(sub, 'version_changed', occasion);
    const next = { version: now.version ?? before.version, askedAt: now.askedAt ?? before.askedAt };
    if (next.version !== before.version || next.askedAt !== before.askedAt) await remember(sub, next);
    return changed;
  };
  /** One question for all who wait for the same answer. Out: undefined when it cannot be had and need not be. */
  const ask = (sub: string, { ask: question, allowUnavailable }: NonNullable<StandingsOptions['recheck']>) => {
    const under = asking.get(sub);
    if (under !== undefined) return under;
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
  /** Out: what keeps the member out; undefined: nothing. */
  const check = async (sub: string, before: Known, occasion: Occasion): Promise<string | undefined> => {
    if (recheck === undefined) return undefined;
    const askedAt = clock();
    const standing = await ask(sub, recheck);
    if (standing === undefined) return undefined;
    if (standing.kind !== 'good') {
      await end(sub, `member_${standing.kind}`, occasion);
      return standing.kind;
    }
    return (await compare(sub, before, { version: standing.version, askedAt }, occasion)) ? 'changed' : undefined;
  };

  const met = async ({ sub, version }: Member): Promise<void> => {
    if (version !== undefined) await compare(sub, await known(sub), { version }, NO_OCCASION);
  };

  return {
    watched: (connector) => ({
      ...connector,
      async identify(headers, from) {
        const member = await connector.identify(headers, from);
        if (member !== undefined) await met(member);
        return member;
      },
    }),

    signedIn: met,

    async maySignIn({ sub }) {
      if (recheck === undefined) return true;
      const verdict = await check(sub, await known(sub), NO_OCCASION);
      // What was let in before has ended; who signs in now does so as they are now.
      return verdict === undefined || verdict === 'changed';
    },

    async mayContinue(sub, occasion) {
      if (recheck === undefined) return true;
      const before = await known(sub);
      const age = before.askedAt === undefined ? undefined : clock() - before.askedAt;
      // A clock that was set back asks again, rather than not for a long time.
      if (age !== undefined && age >= 0 && age < recheck.interval * 1000) return true;
      return (await check(sub, before, occasion)) === undefined;
    },
  };
}
