import { type Html, html } from '../../../http/html.ts';

interface TableView {
  /** What it shows: the text, or the id of the heading that says it. */
  readonly label: string | { readonly by: string };
  readonly className?: string;
  readonly columns: readonly string[];
  /** Each is a `tr`. */
  readonly rows: readonly Html[];
}

/** A table that scrolls by itself where it is wider than the page, also by keyboard. */
export function table({ label, className, columns, rows }: TableView): Html {
  const named = typeof label === 'string' ? html`aria-label="${label}"` : html`aria-labelledby="${label.by}"`;
  return html`<div class="scroll" role="region" tabindex="0" ${named}><table${className !== undefined && html` class="${className}"`}>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
}
