import { type Html, html } from '../../../http/html.ts';
import { withQuery } from '../paths.ts';

interface Choice {
  readonly href: string;
  readonly text: string;
  readonly chosen: boolean;
}

/** Links to the variants of a page, of which one is shown. */
export function choices(label: string, links: readonly Choice[]): Html {
  return html`<nav aria-label="${label}"><ul class="spans">${links.map(
    ({ href, text, chosen }) => html`<li><a href="${href}"${chosen && html` aria-current="page"`}>${text}</a></li>`,
  )}</ul></nav>`;
}

interface FilterView {
  readonly label: string;
  /** The name of the filter in the query. */
  readonly name: string;
  /** Values with their texts; '' shows everything. */
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A filter that is set with one click, and keeps the others. */
export function filterLinks({ label, name, options, path, query }: FilterView): Html {
  const links = options.map(([value, text]) => ({
    href: withQuery(path, { ...query, [name]: value, place: undefined }),
    text,
    chosen: value === (query[name] ?? ''),
  }));
  return html`<div class="pick"><span class="muted" aria-hidden="true">${label}</span>${choices(label, links)}</div>`;
}

/** Hidden fields of a filter form, for what its links have set. */
export function keptFields(query: FilterView['query'], names: readonly string[]): readonly Html[] {
  const given = names.filter((name) => (query[name] ?? '') !== '');
  return given.map((name) => html`<input type="hidden" name="${name}" value="${query[name]}">`);
}

/** The text to search a list for, which keeps the order and what links like these have set. */
export function searchForm(label: string, query: FilterView['query'], kept: readonly string[], more?: Html): Html {
  return html`<form class="filter">
${searchField(label, query.q)}
${more}${keptFields(query, [...kept, 'sort'])}
<button>Search</button>
</form>`;
}

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
