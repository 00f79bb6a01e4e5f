import type { Translatable } from '../../config/pages.ts';
import { type Html, html } from '../../http/html.ts';
import { fold, inBrief, joined } from './fold.ts';
import { subjectOf, type Words } from './words.ts';

/** Whose data a scope is about, in the order of the page. */
const AREAS = ['you', 'school'] as const;

/** What an app asks for, as sentences. Nothing is granted but what is ticked here, and what the app has already. */
export interface Permissions {
  readonly reads: readonly ScopeLine[];
  readonly writes: readonly ScopeLine[];
  /** What the app has already, beside what is new. The member is not asked again: it is named, and granted again. */
  readonly held: readonly Pick<ScopeLine, 'token' | 'title'>[];
}

interface ScopeLine {
  readonly token: string;
  readonly title: Translatable;
  readonly area: (typeof AREAS)[number];
  /** About other people. It is named first in its area. */
  readonly people: boolean;
  /** The app has it already, and asks for something new beside it. */
  readonly had: boolean;
  /** The member's roles in courses that the scope is limited to; undefined for the whole school. */
  readonly courses?: { readonly roles: readonly string[]; readonly count: number } | undefined;
  /** `always`: included in every approval, without a checkbox. */
  readonly box: 'ticked' | 'unticked' | 'always';
}

/** Up to this many boxes of one kind are all listed. */
export const MOST_LISTED = 6;
/** Of more, so many are named one by one, the personal and the strongest first, and the others are folded. */
const MOST_NAMED = { reads: 9, writes: 3 };
/** Of what is folded, what it is about. */
const MOST_FOLDED = 4;
/** Of what the app has already. */
const MOST_HELD = 3;

/** The checkboxes of the consent page: what the app can see, then what it can change. */
export function permissionFields(words: Words, { reads, writes, held }: Permissions): Html {
  return html`${held.map(({ token }) => html`<input type="hidden" name="held" value="${token}">`)}
<div class="permissions">${reads.length > 0 && readFields(words, reads)}
${writes.length > 0 && writeFields(words, writes)}</div>
${held.length > 0 && heldList(words, held)}`;
}

function readFields(words: Words, reads: readonly ScopeLine[]): Html {
  const boxes = reads.filter(({ box }) => box !== 'always').length;
  return html`<fieldset class="read">
<legend>${words.html('consent.scopes.read')}</legend>
${boxes > MOST_LISTED ? areaFields(words, strongestFirst(reads)) : reads.map((scope) => line(words, scope))}</fieldset>`;
}

function areaFields(words: Words, reads: readonly ScopeLine[]): readonly Html[] {
  return AREAS.map((area) => ({ area, from: reads.findIndex((scope) => scope.area === area) }))
    .filter(({ from }) => from >= 0)
    .map(({ area, from }) => {
      const scopes = reads.filter((scope) => scope.area === area);
      return html`<fieldset><legend>${words.html(`consent.area.${area}`)}</legend>
${listed(words, scopes, Math.max(0, MOST_NAMED.reads - from))}</fieldset>
`;
    });
}

function writeFields(words: Words, writes: readonly ScopeLine[]): Html {
  const note = writes.every(({ box }) => box === 'ticked') ? 'consent.writes.ticked' : 'consent.writes.unticked';
  return html`<fieldset class="write">
<legend>${words.html('consent.scopes.write')}</legend>
<p>${words.html(note)}</p>
${writes.length > MOST_LISTED ? listed(words, strongestFirst(writes), MOST_NAMED.writes) : writes.map((scope) => line(words, scope))}</fieldset>`;
}

/** What is folded is named in brief, and not ticked: nobody grants what they have not seen. */
function listed(words: Words, scopes: readonly ScopeLine[], most: number): Html {
  const { shown, rest } = fold(scopes, most);
  const subjects = rest.map(({ token, title }) => subjectOf(words, token, title));
  const names = joined(inBrief(words, subjects, MOST_FOLDED), ' · ');
  return html`${shown.map((scope) => line(words, scope))}${
    rest.length > 0 &&
    html`<details class="list"><summary>${words.html('consent.scopes.more', { names })}</summary>
${rest.map((scope) => line(words, { ...scope, box: 'unticked' }))}</details>`
  }`;
}

function heldList(words: Words, held: Permissions['held']): Html {
  const titles = held.map(({ title }) => words.own(title));
  const names = joined(inBrief(words, titles, MOST_HELD), ' · ');
  return html`<details class="held"><summary>${words.html('consent.held', { names })}</summary>
<ul>${titles.map((title) => html`<li>${title}</li>`)}</ul>
<p>${words.html('consent.held.keeps', { apps: words.html('apps.title') })}</p></details>`;
}

function strongestFirst(scopes: readonly ScopeLine[]): readonly ScopeLine[] {
  const rank = ({ area, people }: ScopeLine) => (area === 'you' ? 0 : people ? 1 : 2);
  return scopes.toSorted((a, b) => rank(a) - rank(b));
}

function line(words: Words, { token, title, box, had, courses }: ScopeLine): Html {
  if (box === 'always')
    return html`<div class="scope always"><span>${words.own(title)} <small>${words.html('consent.scopes.always')}</small></span></div>
`;
  return html`<label class="scope"><input type="checkbox" name="scope" value="${token}"${box === 'ticked' && html` checked`}>
<span>${words.own(title)}${courses && html` <small>${inCourses(words, courses)}</small>`}${had && html` <small>${words.html('consent.scopes.had')}</small>`}</span></label>
`;
}

/** `instructor` is the one role with words of its own. */
function inCourses(words: Words, { roles, count }: NonNullable<ScopeLine['courses']>): Html {
  if (roles.every((role) => role === 'instructor')) return words.count('consent.courses.taught', count);
  // "A and B" could be read as both in each course.
  const role = joined(
    roles.map((one) => html`<bdi>${one}</bdi>`),
    ' / ',
  );
  return words.count('consent.courses.role', count, { role });
}

/** The codes that developers and support know these permissions by. */
export function scopeCodes(words: Words, { reads, writes, held }: Permissions): Html {
  return html`<ul class="codes">${[...reads, ...writes, ...held].map(
    ({ token, title }) => html`<li><code>${token}</code> ${words.own(title)}</li>
`,
  )}</ul>`;
}
