import { type Html, html } from '../../http/html.ts';
import type { Posing } from './posing.ts';
import type { Words } from './words.ts';

/** The app whose authorization request waits for the member. */
export interface WaitingApp {
  /** Chosen by the app, and therefore not to be trusted. */
  readonly name: string | undefined;
  /** Whose name that is without being theirs, if it is someone's. */
  readonly posing: Posing | undefined;
}

/** A form that refuses the app's request, which sends the member back to the app. */
export interface CancelForm {
  readonly action: string;
  readonly csrf: string;
}

/** Names the app within a sentence. */
export function waitingApp(words: Words, app: WaitingApp | undefined): Html {
  if (app?.name === undefined) return words.html('waiting.nameless');
  if (app.posing !== undefined) return words.html('waiting.posing', { app: app.name });
  return html`<bdi>${app.name}</bdi>`;
}

/** The warning about a name that is someone else's. */
export function posingWarning(words: Words, posing: Posing): Html {
  if (posing === 'school') return words.html('consent.posing');
  const [domain = ''] = posing.domains;
  return words.html('consent.posing.brand', { owner: posing.owner, domain });
}
