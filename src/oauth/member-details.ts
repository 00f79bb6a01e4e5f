interface DetailFacts {
  /** What it is called in descriptions. */
  readonly noun: string;
  /** Its claim (OpenID Connect Core section 5.1): in userinfo, in the assertion, and in what logins say. */
  readonly claim: string;
  /** The scope that releases it to an app (OpenID Connect Core section 5.4). */
  readonly scope: string;
  /** The header field in which an upstream reads it. */
  readonly header: `X-Member-${string}`;
}

/**
 * What a login can say about a member besides the ID. The settings of logins, userinfo, the assertion, the identity
 * headers and `$context` are derived from this table.
 */
export const MEMBER_DETAILS = {
  email: { noun: 'email', claim: 'email', scope: 'email', header: 'X-Member-Email' },
  name: { noun: 'name', claim: 'name', scope: 'profile', header: 'X-Member-Name' },
} as const satisfies Readonly<Record<string, DetailFacts>>;

type MemberDetail = keyof typeof MEMBER_DETAILS;

/** One value for each detail. */
export type EachDetail<Value> = Readonly<Record<MemberDetail, Value>>;

/** The details of a member, as far as the login says them. */
export type MemberDetails = Partial<EachDetail<string | undefined>>;

/** Every detail, as it is called in settings and records. */
export const DETAIL_NAMES = Object.keys(MEMBER_DETAILS) as readonly MemberDetail[];

/** Makes one value for each detail. */
export function eachDetail<Value>(make: (detail: MemberDetail, facts: DetailFacts) => Value): EachDetail<Value> {
  const values = DETAIL_NAMES.map((detail) => [detail, make(detail, MEMBER_DETAILS[detail])] as const);
  return Object.fromEntries(values) as EachDetail<Value>;
}

/** The details alone, of a record that has more. */
export function detailsOf(member: MemberDetails): EachDetail<string | undefined> {
  return eachDetail((detail) => member[detail]);
}

/** The details that are known, each with its row of the table. */
export function knownDetails(details: MemberDetails): readonly (readonly [DetailFacts, string])[] {
  return DETAIL_NAMES.flatMap((detail) => {
    const value = details[detail];
    return value === undefined ? [] : [[MEMBER_DETAILS[detail], value] as const];
  });
}
