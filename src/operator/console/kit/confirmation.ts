import { LONGEST_REASON } from '../../../actions/action.ts';
import { type Html, html } from '../../../http/html.ts';

/** The form below a question, with a field for the reason. */
export interface Confirmation {
  /** What will happen, if the page does not say it above. */
  readonly text?: Html;
  /** Where the form is posted, and where Cancel leads. */
  readonly action: string;
  readonly back: string;
  readonly button: string;
  /** Whether access is taken away. */
  readonly danger: boolean;
  readonly csrf: string;
  /** Further hidden fields. */
  readonly fields?: Readonly<Record<string, string>>;
  /** What has to be ticked first, because the action is probably not meant. */
  readonly sure?: string | undefined;
}

export function confirmation({ text, action, back, button, danger, csrf, fields, sure }: Confirmation): Html {
  const hidden = Object.entries({ csrf, ...fields });
  return html`<div class="card narrow">
${text}
<form class="fields" method="post" action="${action}">
${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${sure !== undefined && html`<p class="notice"><label class="tick"><input type="checkbox" name="sure" value="yes" required> ${sure}</label></p>`}
<label for="reason">Reason, for the audit log (optional)</label>
<input id="reason" name="reason" maxlength="${LONGEST_REASON}" autocomplete="off">
<p class="actions"><button class="${danger ? 'danger' : 'go'}">${button}</button> <a href="${back}">Cancel</a></p>
</form>
</div>`;
}
