/** What the backend says a member is: at the school as a whole, and in single courses. The names are the school's own. */
export interface MemberRoles {
  readonly school: ReadonlySet<string>;
  /** By the course's id, which is compared character by character. */
  readonly courses: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Looks up the roles of the member with this id, synchronously when they are cached. Throws, or rejects with,
 * GatewayError `login_unavailable` when the backend cannot say, which never means "none".
 */
export type RolesOf = (sub: string) => MemberRoles | Promise<MemberRoles>;
