import { type Html, html } from '../../../http/html.ts';

export interface Confirmation {
  readonly csrf: string;
  /** Where the form is posted, and where "Cancel" leads. */
  readonly action: string;
  readonly back: string;
  readonly button: string;
  readonly isDangerous: boolean;
  /** Further hidden fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** The form below the text of a confirmation page. */
export function confirmationForm({ csrf, action, back, button, isDangerous, fields = {} }: Confirmation): Html {
  const hidden = Object.entries({ csrf, ...fields });
  return html`<form class="fields confirmation" method="post" action="${action}">
${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label for="reason">Reason, for the audit (optional)</label>
<input id="reason" name="reason" maxlength="200" autocomplete="off">
<div class="actions"><button class="${isDangerous ? 'danger' : 'go'}">${button}</button> <a href="${back}">Cancel</a></div>
</form>`;
}
