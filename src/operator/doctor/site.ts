import type { Ask } from './ask.ts';
import { type Check, checksOf } from './check.ts';
import type { Facts } from './facts/facts.ts';
import type { Registered } from './registrations.ts';

/** The examined deployment, and how to send requests to it. */
export interface ExaminedSite {
  readonly origin: string;
  /** The path given by the operator, without a trailing slash; '' for the origin itself. */
  readonly path: string;
  /** Sends a request, and retries once after a 429. Throws Unavailable after a second 429. */
  readonly ask: Ask;
  /** Sends a request and returns any response, including a 429. */
  readonly askAsIs: Ask;
  /** When the certificate expires, in milliseconds since 1970; for https sites only. */
  readonly certificateEnd: () => Promise<number>;
  /** The plain http origin of the same host; undefined if the site itself uses plain http. */
  readonly plainOrigin: string | undefined;
  /** The clients registered for the audit; undefined when registering is not allowed. */
  readonly registered: Set<Registered> | undefined;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly now: () => number;
}

export type SiteCheck = Check<ExaminedSite, Facts>;

/** Makes checks of a deployment. */
export const checks = checksOf<ExaminedSite, Facts>();
