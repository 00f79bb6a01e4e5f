import { createHmac, type KeyObject } from 'node:crypto';
import { isObject } from '../http/json-object.ts';
import type { Principal } from '../oauth/principal.ts';

/** Replaces names of people in a mapped result for one app. */
export type HideNames = (result: unknown, principal: Principal) => unknown;

/**
 * Replaces every text at or below the members with these names, at any depth of a result, by `Member` and eight
 * hexadecimal digits: an HMAC of the app and the text, so that one app always gets the same pseudonym for a name, and
 * two apps cannot compare theirs. Callers without a token count as one app.
 */
export function hideNames(members: readonly string[], key: KeyObject): HideNames {
  if (members.length === 0) return (result) => result;
  const listed = new Set(members);
  return (result, principal) => {
    const app = principal.kind === 'member' ? principal.clientId : '';
    const known = new Map<string, string>();
    const pseudonymOf = (name: string): string => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const digest = createHmac('sha256', key)
        .update(JSON.stringify([app, name.normalize().trim()]))
        .digest('hex');
      const pseudonym = `Member ${digest.slice(0, 8).toUpperCase()}`;
      known.set(name, pseudonym);
      return pseudonym;
    };
    const replaced = (value: unknown, isName: boolean): unknown => {
      if (typeof value === 'string') return isName && value.trim() !== '' ? pseudonymOf(value) : value;
      if (Array.isArray(value)) return value.map((item) => replaced(item, isName));
      if (!isObject(value)) return value;
      const entries = Object.entries(value).map(([name, item]) => [name, replaced(item, isName || listed.has(name))]);
      return Object.fromEntries(entries);
    };
    return replaced(result, false);
  };
}
