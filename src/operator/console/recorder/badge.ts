import { type Html, html } from '../../../http/html.ts';
import type { State } from './state.ts';
import { STATES } from './words.ts';

const BADGES: Readonly<Record<State, string>> = { open: 'warn', connected: 'good', stopped: 'bad', ended: '' };

export function badge(state: State): Html {
  return html`<span class="badge ${BADGES[state]}">${STATES[state]}</span>`;
}
