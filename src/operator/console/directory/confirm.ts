import { type Html, html } from '../../../http/html.ts';

/** A question before an action, with a field for the reason. */
export interface ActionQuestion {
  /** What will happen. */
  readonly text: Html;
  readonly action: string;
  readonly button: string;
  /** Whether access is taken away. */
  readonly danger?: boolean;
  readonly csrf: string;
  /** Where Cancel leads. */
  readonly back: string;
  /** What has to be ticked first, because the action is probably not meant. */
  readonly sure?: string | undefined;
}

export function confirmation({ text, action, button, danger = false, csrf, back, sure }: ActionQuestion): Html {
  return html`<div class="card narrow">
${text}
<form class="fields" method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${sure !== undefined && html`<p class="notice"><label class="tick"><input type="checkbox" name="sure" value="yes" required> ${sure}</label></p>`}
<label for="reason">Reason, for the audit log (optional)</label>
<input id="reason" name="reason" maxlength="200" autocomplete="off">
<p class="actions"><button class="${danger ? 'danger' : 'go'}">${button}</button> <a href="${back}">Cancel</a></p>
</form>
</div>`;
}

/** A form that is only a button, for what takes nothing away. */
export function buttonForm(action: string, button: string, csrf: string): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}"><button>${button}</button></form>`;
}
