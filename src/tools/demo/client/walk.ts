import type { ConnectError } from '../../connect/connect-error.ts';
import type { Courses } from '../../connect/courses.ts';
import type { AuthorizationRequest } from '../../connect/oauth/authorization.ts';
import { explain } from '../../connect/oauth/explain.ts';
import type { RegisteredClient } from '../../connect/oauth/registration.ts';
import type { TokenResponse } from '../../connect/oauth/tokens.ts';
import { type Transport, transport } from '../../connect/oauth/transport.ts';
import { type Exchange, recording } from './exchange.ts';
import { LESSONS, type LessonName } from './lessons.ts';

/** One step of a walk. */
export interface Step {
  readonly number: number;
  readonly lesson: LessonName;
  readonly exchanges: Exchange[];
  /** What was found or checked, in sentences. */
  readonly facts: string[];
  problem?: ConnectError;
  /** The school refused the token, as it should: nothing failed. */
  refused?: true;
}

/** One run of the flow in a browser, from Connect to Disconnect. */
export interface Walk {
  /** The gate's origin. */
  readonly gate: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly steps: Step[];
  client?: RegisteredClient | undefined;
  /** The authorization request that is waiting for its response. */
  pending?: AuthorizationRequest | undefined;
  tokens?: { readonly access: string; readonly refresh: string | undefined; readonly scope: string };
  /** Study Buddy revoked its tokens. */
  revoked: boolean;
  /** The school has ended the connection. */
  disconnected: boolean;
  courses?: Courses | undefined;
}

/** The steps of the flow are all kept; of later ones, only the last `AFTERWARDS`. */
const FLOW = 8;
const AFTERWARDS = 24;

/**
 * Runs one step and records it. `work` must send its requests through the given transport. If it fails, the explained
 * error is stored in the step for display, and the result is undefined.
 */
export async function take<T extends {}>(
  walk: Walk,
  lesson: LessonName,
  work: (http: Transport, step: Step) => Promise<T>,
): Promise<T | undefined> {
  const number = (walk.steps.at(-1)?.number ?? 0) + 1;
  const step: Step = { number, lesson, exchanges: [], facts: [] };
  walk.steps.push(step);
  if (walk.steps.length > FLOW + AFTERWARDS) walk.steps.splice(FLOW, 1);
  try {
    return await work(transport(walk.gate, { watch: recording(step.exchanges) }), step);
  } catch (thrown) {
    step.problem = explain(thrown, `“${LESSONS[lesson].title}”`);
    return undefined;
  }
}

/** Turns the problem of the last step into a refusal to explain. Returns whether `recognises` its cause. */
export function refusedAs(walk: Walk, recognises: (thrown: unknown) => boolean, fact: string): boolean {
  const step = walk.steps.at(-1);
  if (step?.problem === undefined || !recognises(step.problem.cause)) return false;
  delete step.problem;
  step.refused = true;
  step.facts.push(fact);
  return true;
}

/** Stores the tokens of a response. Without a new refresh token, the old one remains valid (RFC 6749 section 6). */
export function keepTokens(walk: Walk, answer: TokenResponse): void {
  walk.tokens = {
    access: answer.access_token,
    refresh: answer.refresh_token ?? walk.tokens?.refresh,
    scope: answer.scope ?? walk.tokens?.scope ?? walk.scope,
  };
}
