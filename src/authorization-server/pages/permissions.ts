import type { Translatable } from '../../config/pages.ts';
import { type Html, html } from '../../http/html.ts';
import type { Words } from './words.ts';

/** What an app asks for, as sentences. */
export interface Permissions {
  readonly reads: readonly ScopeLine[];
  readonly writes: readonly ScopeLine[];
  /** Nothing it can see is ticked; where that is summarised, the answer is "none". */
  readonly noReads: boolean;
}

interface ScopeLine {
  readonly token: string;
  readonly title: Translatable;
  /** `always`: included in every approval, without a checkbox. */
  readonly box: 'ticked' | 'unticked' | 'always';
}

/** More boxes than this of one kind are listed in a `details` element. */
export const MOST_LISTED = 6;

/** The checkboxes of the consent page: what the app can see, then what it can change. */
export function permissionFields(words: Words, { reads, writes, noReads }: Permissions): Html {
  return html`${reads.length > 0 && readFields(words, reads, noReads)}
${writes.length > 0 && writeFields(words, writes)}`;
}

function readFields(words: Words, reads: readonly ScopeLine[], noReads: boolean): Html {
  const always = reads.filter(({ box }) => box === 'always');
  const boxes = reads.filter(({ box }) => box !== 'always');
  return html`<fieldset class="read">
<legend>${words.html('consent.scopes.read')}</legend>
${always.map((scope) => line(words, scope))}
${boxes.length > MOST_LISTED ? summary(words, boxes, noReads) : boxes.map((scope) => line(words, noReads ? { ...scope, box: 'unticked' } : scope))}</fieldset>`;
}

/** One answer to all of them, and the list to choose from. Without a script: `none` overrides what is ticked. */
function summary(words: Words, boxes: readonly ScopeLine[], noReads: boolean): Html {
  const count = html`${boxes.length}`;
  const radio = (value: 'ticked' | 'none', isChecked: boolean, label: Html) =>
    html`<label class="scope"><input type="radio" name="reads" value="${value}"${isChecked && html` checked`}><span>${label}</span></label>
`;
  return html`${radio('ticked', !noReads, words.html('consent.reads.all', { count }))}${radio('none', noReads, words.html('consent.reads.none'))}
${folded(words, boxes)}`;
}

function writeFields(words: Words, writes: readonly ScopeLine[]): Html {
  const note = writes.every(({ box }) => box === 'ticked') ? 'consent.writes.ticked' : 'consent.writes.unticked';
  const listed = writes.length <= MOST_LISTED;
  return html`<fieldset class="write">
<legend>${words.html('consent.scopes.write')}</legend>
<p>${words.html(note)}</p>
${listed ? writes.map((scope) => line(words, scope)) : folded(words, writes)}</fieldset>`;
}

function folded(words: Words, scopes: readonly ScopeLine[]): Html {
  return html`<details class="list"><summary>${words.html('consent.scopes.list', { count: html`${scopes.length}` })}</summary>
${scopes.map((scope) => line(words, scope))}</details>`;
}

function line(words: Words, { token, title, box }: ScopeLine): Html {
  if (box === 'always') {
    return html`<div class="scope always"><span>${words.own(title)} <small>${words.html('consent.scopes.always')}</small></span></div>
`;
  }
  return html`<label class="scope"><input type="checkbox" name="scope" value="${token}"${box === 'ticked' && html` checked`}>
<span>${words.own(title)}</span></label>
`;
}

/** The codes that developers and support know these permissions by. */
export function scopeCodes(words: Words, { reads, writes }: Permissions): Html {
  return html`<ul class="codes">${[...reads, ...writes].map(
    ({ token, title }) => html`<li><code>${token}</code> ${words.own(title)}</li>
`,
  )}</ul>`;
}
