import { invalidRequest } from '../../errors.ts';
import { readFields } from '../../http/fields.ts';
import type { GrantsOf } from '../grants.ts';
import type { PageWanted } from './paging.ts';

/** The query of a command. Every method throws GatewayError `invalid_request`. */
export type Query = ReturnType<typeof readQuery>;

const LONGEST = 2048;
/** The longest page that can be requested, and the default. */
const LONGEST_PAGE = 200;
const PAGE = 50;

/**
 * @param encoded - the query of the request target
 * @param known - the allowed parameters
 * Throws `invalid_request`.
 */
export function readQuery(encoded: string, known: readonly string[]) {
  const given = readFields(encoded, { known, longest: LONGEST });
  const text = (name: string) => given[name] || undefined;

  return {
    text,
    oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
      const value = text(name);
      const chosen = choices.find((choice) => choice === value);
      if (value !== undefined && chosen === undefined)
        throw invalidRequest(`"${name}" must be ${choices.join(' or ')}.`);
      return chosen;
    },
    page(): PageWanted {
      const limit = text('limit') ?? String(PAGE);
      if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > LONGEST_PAGE)
        throw invalidRequest(`"limit" must be a number from 1 to ${LONGEST_PAGE}.`);
      return { cursor: text('cursor'), limit: Number(limit) };
    },
    /** Exactly one of `member` and `client`. */
    owner(): GrantsOf {
      const [member, client] = [text('member'), text('client')];
      if (member !== undefined && client === undefined) return { member };
      if (client !== undefined && member === undefined) return { client };
      throw invalidRequest('Specify either ?member=ID or ?client=ID.');
    },
  };
}
