import type { Handler } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import type { SignInSessions } from '../../login/sign-in-session.ts';
import type { Places } from '../../storage/places.ts';
import type { Secrets } from '../../storage/seal.ts';
import type { OwnCookie } from '../cookies.ts';
import type { CsrfKeys } from '../csrf.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import type { SignInEvents } from './events.ts';
import type { PurposeOf } from './purpose.ts';

export interface SignInOptions extends Pick<InteractionParts, 'origin' | 'store' | 'clock' | 'pages' | 'audit'> {
  readonly secrets: Secrets;
  readonly places: Places;
  /** Called for every member before their session begins. Returns the member as they may be stored. */
  readonly signedIn: (member: Member) => Promise<Member>;
  readonly purposeOf: PurposeOf;
}

/** The handlers of the gate's own sign-in pages. Absent ones have no route. */
export interface SignInHandlers {
  /** The sign-in page, or the redirect to a provider. */
  readonly page: Handler;
  /** Accepts the submitted credentials. */
  readonly submit?: Handler;
  /** Accepts the redirect back from a provider. */
  readonly callback?: Handler;
  /** At `origin`, with `pages.origin`: hands the site's session over. */
  readonly handOver?: Handler;
}

/** The options of both kinds of handlers. */
export interface SignInHandlerOptions extends SignInOptions {
  readonly csrfKeys: CsrfKeys;
  readonly events: SignInEvents;
  readonly sessions: SignInSessions;
  readonly memberCookie: OwnCookie;
  /** Binds a sign-in to the browser that started it. */
  readonly browserCookie: OwnCookie;
}
