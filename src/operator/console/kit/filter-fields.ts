import { type Html, html } from '../../../http/html.ts';

/** A select of a filter form. */
export function choice(
  name: string,
  label: string,
  options: Readonly<Record<string, string>>,
  chosen: string | undefined,
): Html {
  return html`<div><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${Object.entries(options).map(
    ([value, text]) => html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>`,
  )}</select></div>`;
}

export function searchField(label: string, value: string | undefined, name = 'q'): Html {
  return html`<div class="wide"><label for="${name}">${label}</label>
<input id="${name}" type="search" name="${name}" value="${value ?? ''}" maxlength="200"></div>`;
}
