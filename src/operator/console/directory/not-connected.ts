import { html } from '../../../http/html.ts';

/** Instead of the last use: the member approved the app, and it never redeemed its code, so nothing is connected. */
export const NOT_CONNECTED = html`<span class="badge warn">never fetched its token</span>`;
