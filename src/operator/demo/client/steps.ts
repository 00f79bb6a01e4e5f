import { explain } from '../../connect/oauth/explain.ts';
import { isGrantGone, isTokenRefused } from '../../connect/oauth/tokens.ts';
import { transport } from '../../connect/oauth/transport.ts';
import { recording } from './exchange.ts';
import { LESSONS, type LessonName, type Step, type Walk } from './walk.ts';
import { WORK } from './work.ts';

/** The steps of the flow are all kept; of later ones, only the last `AFTERWARDS`. */
const FLOW = 8;
const AFTERWARDS = 24;

/** The steps in which the school may refuse a token, and what that means. */
const REFUSALS: Partial<Record<LessonName, readonly [recognises: (thrown: unknown) => boolean, fact: string]>> = {
  read: [isTokenRefused, 'Refused: the access token is no longer valid. Study Buddy tries to refresh it.'],
  refresh: [isGrantGone, 'Refused: the connection is over. Study Buddy stops using its tokens.'],
  refused: [isTokenRefused, 'Refused, as it should be: the token no longer works.'],
};

/** The actions for a connected app: the page's buttons, by the last segment of their path. */
export const ACTIONS: Readonly<Record<string, (walk: Walk) => Promise<unknown>>> = {
  courses: (walk) => (walk.over === 'revoked' ? take(walk, 'refused') : read(walk)),
  refresh,
  introspect: (walk) => take(walk, 'introspect'),
  revoke: (walk) => take(walk, 'revoke'),
};

/** Steps 1 to 4, up to the request for the browser. */
export function begin(walk: Walk): Promise<unknown> {
  return take(walk, 'resource', 'server', 'register', 'authorize');
}

/** Steps 5 to 8, for a callback with the expected state. */
export async function finish(walk: Walk): Promise<void> {
  if ((await take(walk, 'approve', 'callback', 'token')) === 'done') await read(walk);
}

/**
 * Reads with the current token. If it is refused, it may only have expired, so Study Buddy refreshes it once, and learns
 * at the latest then that the member has disconnected it.
 */
async function read(walk: Walk): Promise<void> {
  if ((await take(walk, 'read')) === 'refused' && (await refresh(walk)) === 'done') await take(walk, 'read');
}

async function refresh(walk: Walk): Promise<Step['state']> {
  const state = await take(walk, 'refresh');
  if (state === 'refused') {
    walk.over = 'disconnected';
    walk.courses = undefined;
    walk.tokens = undefined;
  }
  return state;
}

/** Takes steps and records them, until one is not done. Resolves to the state of the last one. */
async function take(walk: Walk, ...names: readonly LessonName[]): Promise<Step['state']> {
  for (const lesson of names) {
    const number = (walk.steps.at(-1)?.number ?? 0) + 1;
    const step: Step = { number, lesson, exchanges: [], facts: [], state: 'done' };
    walk.steps.push(step);
    if (walk.steps.length > FLOW + AFTERWARDS) walk.steps.splice(FLOW, 1);
    try {
      await WORK[lesson](walk, transport(walk.gate, { watch: recording(step.exchanges) }), step);
    } catch (thrown) {
      const [recognises, fact] = REFUSALS[lesson] ?? [];
      if (fact !== undefined && recognises?.(thrown)) {
        step.state = 'refused';
        step.facts.push(fact);
      } else {
        step.state = 'failed';
        step.problem = explain(thrown, `“${LESSONS[lesson].title}”`);
      }
      return step.state;
    }
  }
  return 'done';
}
