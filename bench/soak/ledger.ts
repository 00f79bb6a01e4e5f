import { randomInt } from 'node:crypto';
import type { App } from '../../test/support/app.ts';
import type { Tokens } from '../../test/support/connection.ts';

/** A member of the school. */
export interface SoakMember {
  readonly id: string;
  readonly email: string;
  readonly login: { readonly login: string; readonly password: string };
}

/** One grant: an app that may act for a member. */
export interface Connection {
  readonly member: SoakMember;
  readonly app: App;
  tokens: Tokens;
  /** When these tokens were issued, in milliseconds since the epoch. */
  issuedAt: number;
  /** The refresh token that they replaced, and when it was last used. */
  before?: { readonly refreshToken: string; readonly at: number };
}

/** A grant whose end the gate has acknowledged. */
export interface Ended {
  readonly connection: Connection;
  readonly at: number;
}

const MOST_ENDED = 400;
const MOST_FAULTS = 50;

/** What the gates have acknowledged to the clients of a soak, and the faults: acknowledgements that turned out wrong. */
export class Ledger {
  readonly #live: Connection[] = [];
  readonly #ended: Ended[] = [];
  readonly #counts = new Map<string, number>();
  readonly #troubles = { ill: new Map<string, number>(), well: new Map<string, number>() };
  readonly #tell: (fault: string) => void;
  readonly faults: string[] = [];
  faultCount = 0;

  /** The function is called for each fault. */
  constructor(tell: (fault: string) => void) {
    this.#tell = tell;
  }

  get live(): number {
    return this.#live.length;
  }

  /** Takes a connection out of the pool, so that no other work uses it. */
  take(): Connection | undefined {
    return this.#live.length === 0 ? undefined : this.#live.splice(randomInt(this.#live.length), 1)[0];
  }

  give(connection: Connection): void {
    this.#live.push(connection);
  }

  end(connection: Connection): void {
    this.#ended.push({ connection, at: Date.now() });
    if (this.#ended.length > MOST_ENDED) this.#ended.shift();
  }

  /** A connection that ended at least `age` milliseconds ago. */
  someEnded(age: number): Connection | undefined {
    const old = this.#ended.filter(({ at }) => at < Date.now() - age);
    return old.length === 0 ? undefined : old[randomInt(old.length)]?.connection;
  }

  counted(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** Counts a request that failed or got 502, 503 or 504, and is retried. `expected` is true shortly after a kill. */
  troubled(what: string, expected: boolean): void {
    const map = this.#troubles[expected ? 'ill' : 'well'];
    map.set(what, (map.get(what) ?? 0) + 1);
  }

  /** Records something that must never happen. */
  fault(what: string, detail?: unknown): void {
    this.faultCount += 1;
    if (this.faults.length === MOST_FAULTS) return;
    const fault = `${new Date().toISOString()} ${what} ${detail === undefined ? '' : JSON.stringify(detail)}`;
    this.faults.push(fault);
    this.#tell(fault);
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted());
  }

  get troubles(): { readonly ill: Record<string, number>; readonly well: Record<string, number> } {
    return { ill: Object.fromEntries(this.#troubles.ill), well: Object.fromEntries(this.#troubles.well) };
  }
}
