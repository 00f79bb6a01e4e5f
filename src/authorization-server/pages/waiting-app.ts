import { type Html, html } from '../../http/html.ts';
import type { Words } from './words.ts';

/** The app whose authorization request waits for the member. */
export interface WaitingApp {
  /** Chosen by the app, and therefore not to be trusted. */
  readonly name: string | undefined;
  /** Whether the name imitates the course site. */
  readonly posing: boolean;
}

/** A form that refuses the app's request, which sends the member back to the app. */
export interface CancelForm {
  readonly action: string;
  readonly csrf: string;
}

/** Names the app within a sentence. */
export function waitingApp(words: Words, app: WaitingApp | undefined): Html {
  if (app?.name === undefined) return words.html('waiting.nameless');
  if (app.posing) return words.html('waiting.posing', { app: app.name });
  return html`<bdi>${app.name}</bdi>`;
}
