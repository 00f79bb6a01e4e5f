import type { ConnectError } from '../../connect/connect-error.ts';
import type { Courses } from '../../connect/courses.ts';
import type { AuthorizationRequest } from '../../connect/oauth/authorization.ts';
import type { AuthorizationServer, ResourceServer } from '../../connect/oauth/discovery.ts';
import type { RegisteredClient } from '../../connect/oauth/registration.ts';
import type { WireRecord } from './exchange.ts';
import lessons from './lessons.json' with { type: 'json' };

/** What each step teaches: its name, what happens and why, and the standard behind it. */
export const LESSONS = lessons;
export type LessonName = keyof typeof LESSONS;

/** One step of a walk. */
export interface Step {
  readonly number: number;
  readonly lesson: LessonName;
  readonly exchanges: WireRecord[];
  /** What was found or checked, in sentences. */
  readonly facts: string[];
  /** `refused`: the school refused the token, as it should. Nothing failed. */
  state: 'done' | 'refused' | 'failed';
  problem?: ConnectError;
}

/** One run of the flow in a browser, from Connect to Disconnect. Each step leaves here what it found. */
export interface Walk {
  /** The gate's origin. */
  readonly gate: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly steps: Step[];
  /** Ends with the newest work. */
  tail: Promise<unknown>;
  resource?: ResourceServer;
  server?: AuthorizationServer;
  client?: RegisteredClient;
  request?: AuthorizationRequest;
  /** The URL with the response. There is only one: a request is used up by it. */
  callback?: URL;
  /** The parameters of the callback, checked. */
  response?: URLSearchParams;
  tokens?: { readonly access: string; readonly refresh: string | undefined; readonly scope: string } | undefined;
  /** How the connection ended: Study Buddy revoked its tokens, or the school no longer accepts them. */
  over?: 'revoked' | 'disconnected';
  courses?: Courses | undefined;
}

/** Runs `work` after all earlier work of the walk, so that a double click cannot use a refresh token twice. */
export async function inTurn(walk: Walk, work: () => Promise<unknown>): Promise<void> {
  walk.tail = walk.tail.then(work, work);
  await walk.tail;
}
