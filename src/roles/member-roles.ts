import { LRUCache } from 'lru-cache';
import type { LoadedConfig } from '../config/load.ts';
import { createMemberQuestion } from '../login/recheck.ts';
import { unusable } from '../login/whoami/unusable.ts';
import type { MemberRoles } from '../oauth/member-roles.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { readRoles } from './read-roles.ts';
import { type Roles, rolesUnavailable } from './roles.ts';
import type { RolesConfig } from './settings.ts';

const NO_ROLES: MemberRoles = { school: new Set(), courses: new Map() };

/** Of all members: some 10 MB. */
const MOST_MEMBERS = 10_000;
const MOST_ENTRIES = 50_000;

/** Opens what `roles` configures. */
export function openRoles(
  config: RolesConfig,
  { config: { tokens }, secrets }: Pick<LoadedConfig, 'config' | 'secrets'>,
  uses: { readonly call: CallUpstream; readonly clock: () => number },
): Roles {
  // A role that has ended does not outlive the access tokens that were issued before.
  const lifetime = Math.min(config.interval, tokens.access);
  return createRoles(config, secrets.get('roles.key.secret'), { ...uses, lifetime });
}

/**
 * Asks the backend what a member is, and keeps each answer for `lifetime` seconds. All requests of a member share one
 * question. A failure is not kept.
 * @param key the secret that `config.key` refers to
 */
function createRoles(
  config: RolesConfig,
  key: string | undefined,
  { call, clock, lifetime }: { readonly call: CallUpstream; readonly clock: () => number; readonly lifetime: number },
): Roles {
  const question = createMemberQuestion(config, key, call);
  const asking = new Map<string, Promise<MemberRoles>>();
  const kept = new LRUCache<string, { readonly roles: MemberRoles; readonly at: number }>({
    max: MOST_MEMBERS,
    maxSize: MOST_ENTRIES,
    sizeCalculation: ({ roles }) => 1 + roles.courses.size,
  });

  const ask = async (sub: string): Promise<MemberRoles> => {
    try {
      const answer = await question(sub);
      if (config.gone.includes(answer.status)) return NO_ROLES;
      if (answer.status !== 200) throw unusable(`${answer.status}`);
      return readRoles(answer.body, config);
    } catch (cause) {
      throw rolesUnavailable(cause);
    }
  };
  const asked = (sub: string): Promise<MemberRoles> => {
    // The age of an answer counts from the question: it may say what was true then.
    const at = clock();
    const answer = ask(sub)
      .then((roles) => {
        if (asking.get(sub) === answer) kept.set(sub, { roles, at });
        return roles;
      })
      .finally(() => {
        if (asking.get(sub) === answer) asking.delete(sub);
      });
    asking.set(sub, answer);
    return answer;
  };

  return {
    of(sub) {
      const known = kept.get(sub);
      const age = known && clock() - known.at;
      // If the clock was set back, ask again rather than keep the answer for a long time.
      if (known !== undefined && age !== undefined && age >= 0 && age < lifetime * 1000) return known.roles;
      return asking.get(sub) ?? asked(sub);
    },
    forget(sub) {
      kept.delete(sub);
      asking.delete(sub);
    },
  };
}
