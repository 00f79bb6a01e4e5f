import { randomBytes } from 'node:crypto';

/** How long a sign-in lasts. */
const SESSION_MILLISECONDS = 8 * 3_600_000;

/** Who is signed in, in memory: a restart signs everybody out. */
export class Sessions {
  readonly #clock: () => number;
  readonly #open = new Map<string, { readonly memberId: string; readonly until: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** In: a member id. Out: a new session id, always of the school's own making. */
  start(memberId: string): string {
    const now = this.#clock();
    for (const [id, session] of this.#open) if (session.until <= now) this.#open.delete(id);
    const id = randomBytes(32).toString('base64url');
    this.#open.set(id, { memberId, until: now + SESSION_MILLISECONDS });
    return id;
  }

  /** In: a session id as a browser sent it. Out: the member id, or undefined when it is unknown or over. */
  memberOf(id: string | undefined): string | undefined {
    const session = id === undefined ? undefined : this.#open.get(id);
    return session !== undefined && session.until > this.#clock() ? session.memberId : undefined;
  }

  end(id: string | undefined): void {
    if (id !== undefined) this.#open.delete(id);
  }
}
