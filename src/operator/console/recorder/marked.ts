import { type Html, html } from '../../../http/html.ts';

/** Text with code between backticks. */
export function marked(text: string): readonly (Html | string)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
