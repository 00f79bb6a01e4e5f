import { randomInt } from 'node:crypto';
import type { App } from '../../test/support/app.ts';
import type { Tokens } from '../../test/support/connection.ts';

/** A member as the school knows them. */
export interface SoakMember {
  readonly id: string;
  readonly email: string;
  readonly login: { readonly login: string; readonly password: string };
}

/** One grant: an app that acts for a member. */
export interface Connection {
  readonly member: SoakMember;
  readonly app: App;
  tokens: Tokens;
  /** When these were issued; milliseconds since the epoch. */
  issuedAt: number;
  /** What they replaced, and when it was last asked with. */
  before?: { readonly refreshToken: string; readonly at: number };
}

/** A grant that was ended, and acknowledged as ended. */
export interface Ended {
  readonly connection: Connection;
  readonly at: number;
}

const MOST_ENDED = 400;
const MOST_FAULTS = 50;

/** What was acknowledged to the clients of a soak, and what was found not to hold. */
export class Ledger {
  readonly #live: Connection[] = [];
  readonly #ended: Ended[] = [];
  readonly #counts = new Map<string, number>();
  readonly #troubles = { ill: new Map<string, number>(), well: new Map<string, number>() };
  readonly #tell: (fault: string) => void;
  readonly faults: string[] = [];
  faultCount = 0;

  /** In: who is told of each fault when it is found. */
  constructor(tell: (fault: string) => void) {
    this.#tell = tell;
  }

  get live(): number {
    return this.#live.length;
  }

  /** Takes a connection out, so that nobody else uses it meanwhile. */
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

  /** Of those that were ended at least so long ago; milliseconds. */
  someEnded(age: number): Connection | undefined {
    const old = this.#ended.filter(({ at }) => at < Date.now() - age);
    return old.length === 0 ? undefined : old[randomInt(old.length)]?.connection;
  }

  counted(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** A request that got no answer, or 503: to be tried again. In: whether that was to be expected just then. */
  troubled(what: string, expected: boolean): void {
    const map = this.#troubles[expected ? 'ill' : 'well'];
    map.set(what, (map.get(what) ?? 0) + 1);
  }

  /** What must never be. */
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
