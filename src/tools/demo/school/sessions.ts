import { randomBytes } from 'node:crypto';

/** How long a sign-in lasts. */
const SESSION_MILLISECONDS = 8 * 3_600_000;

/** Sign-in sessions in memory. A restart signs everyone out. */
export class Sessions {
  readonly #clock: () => number;
  readonly #open = new Map<string, { readonly memberId: string; readonly until: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Starts a session and returns its new id. */
  start(memberId: string): string {
    const now = this.#clock();
    for (const [id, session] of this.#open) if (session.until <= now) this.#open.delete(id);
    const id = randomBytes(32).toString('base64url');
    this.#open.set(id, { memberId, until: now + SESSION_MILLISECONDS });
    return id;
  }

  /** The member of a session; undefined when it is unknown or expired. */
  memberOf(id: string | undefined): string | undefined {
    const session = id === undefined ? undefined : this.#open.get(id);
    return session !== undefined && session.until > this.#clock() ? session.memberId : undefined;
  }

  end(id: string | undefined): void {
    if (id !== undefined) this.#open.delete(id);
  }
}
