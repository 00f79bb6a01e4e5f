import { type Html, html } from '../../../http/html.ts';
import type { Times } from '../kit/times.ts';
import type { DirectoryView } from './directory.ts';

/** Says what the list is made from: how much is read, how old it is, and whether it is complete. */
export function freshness(view: DirectoryView, times: Times): Html {
  if (view.state === 'reading')
    return html`<p class="notice" role="status">Reading the store: ${Math.floor(view.share * 100)}% done. Reload this page in a few seconds. Exact IDs are found already.</p>`;
  return html`<p class="muted small">Read from the store ${times.ago(view.readAt)}.${view.rows.partial && ' The store has more than is listed here: search for exact IDs to find the rest.'}</p>`;
}
