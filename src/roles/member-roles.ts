import { LRUCache } from 'lru-cache';
import type { LoadedConfig } from '../config/load.ts';
import type { RecheckConfig } from '../config/recheck.ts';
import { createMemberQuestion, isActive } from '../login/recheck.ts';
import { valueIn } from '../login/whoami/json-answer.ts';
import { unusable } from '../login/whoami/unusable.ts';
import type { MemberRoles } from '../oauth/member-roles.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { parseRoles, readRoles } from './read-roles.ts';
import { type Roles, rolesUnavailable } from './roles.ts';
import type { RolesConfig } from './settings.ts';

const NO_ROLES: MemberRoles = { school: new Set(), courses: new Map() };

/** Of all members: some 10 MB. */
const MOST_MEMBERS = 10_000;
const MOST_ENTRIES = 50_000;

/** Opens what `roles` configures. */
export function openRoles(
  config: RolesConfig,
  { config: { tokens, login }, secrets, recheckKey }: Pick<LoadedConfig, 'config' | 'secrets' | 'recheckKey'>,
  { call, clock }: { readonly call: CallUpstream; readonly clock: () => number },
): Roles {
  // A role that has ended does not outlive the access tokens that were issued before.
  const lifetime = Math.min(config.interval, tokens.access);
  const { upstream, path } = config;
  if (upstream !== undefined && path !== undefined) {
    const question = createMemberQuestion({ ...config, upstream, path }, secrets.get('roles.key.secret'), call);
    return createRoles(answerOf(question, { gone: config.gone, active: undefined }, config), clock, lifetime);
  }
  const recheck = 'recheck' in login ? login.recheck : undefined;
  if (recheck === undefined) throw new Error('roles have no question');
  return createRoles(answerOf(createMemberQuestion(recheck, recheckKey, call), recheck, config), clock, lifetime);
}

/** Reads what a member is in the answers to a question. Who is not active there has no roles. */
function answerOf(
  question: ReturnType<typeof createMemberQuestion>,
  { gone, active }: Pick<RecheckConfig, 'gone' | 'active'>,
  config: RolesConfig,
): (sub: string) => Promise<MemberRoles> {
  return async (sub) => {
    const answer = await question(sub);
    if (gone.includes(answer.status)) return NO_ROLES;
    if (answer.status !== 200) throw unusable(`${answer.status}`);
    const document = parseRoles(answer.body);
    return active === undefined || isActive(valueIn(document, active)) ? readRoles(document, config) : NO_ROLES;
  };
}

/** Keeps each answer for `lifetime` seconds. All requests of a member share one question. A failure is not kept. */
function createRoles(answer: (sub: string) => Promise<MemberRoles>, clock: () => number, lifetime: number): Roles {
  const asking = new Map<string, Promise<MemberRoles>>();
  const kept = new LRUCache<string, { readonly roles: MemberRoles; readonly at: number }>({
    max: MOST_MEMBERS,
    maxSize: MOST_ENTRIES,
    sizeCalculation: ({ roles }) => 1 + roles.courses.size,
  });

  const ask = async (sub: string): Promise<MemberRoles> => {
    try {
      return await answer(sub);
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
