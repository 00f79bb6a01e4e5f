/**
 * Beyond these bounds, the first page is not green. They are about the last hour, and docs/console.md lists them.
 *
 * A bound has a share and a least number, so that neither one stray request on a quiet gate nor a few on a busy one is an
 * alarm. What happens on every healthy gate counts nowhere: see `BORE_A_TOKEN` and `OWN_DECISIONS`.
 */
export const BOUNDS = {
  /** Of the requests that bore a token, those that were refused. */
  refused: { share: 0.05, least: 10 },
  /** Of all answers, those with a status of 500 or more. `bad` is the share of the alert CoursegateServerErrors. */
  failed: { share: 0.01, least: 5, bad: 0.05 },
  /** Seconds, with the least number of requests from which the 99th of 100 says something. */
  slow: { p99: 1, least: 100 },
  /** Sign-ins for which the login or the store was unavailable. While that goes on, it is bad. */
  signIns: { share: 0, least: 3, bad: 0 },
  /** Of the attempts to connect by an app that named itself, those that stopped. */
  stopped: { share: 0.1, least: 3 },
  /** Requests in a row without an answer, before the breaker opens. */
  unanswered: 3,
  /** Seconds by which a rotation of keys may be late: maintenance rotates within minutes. */
  keysLate: 3600,
} as const;

/** Minutes after which something that does not go on is over. */
export const OVER = 10;

/**
 * Refusals of requests that bore a token or a code. Without one, a 401 is the beginning of every connection and what
 * scanners get; errors of authorization requests are attempts to connect, which have a bound of their own.
 */
export const BORE_A_TOKEN = ['invalid_token', 'insufficient_scope', 'invalid_dpop_proof', 'invalid_grant'] as const;

/** Causes for which attempts stop by the will of a member: no reason for an alarm. */
export const OWN_DECISIONS: ReadonlySet<string> = new Set(['consent-denied', 'abandoned-consent', 'abandoned-sign-in']);
