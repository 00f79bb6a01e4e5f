import { type Html, html } from '../../../http/html.ts';
import { type Column, listTable } from '../kit/table.ts';
import type { Sources } from '../sources.ts';
import type { Held } from './app-use.ts';
import { countColumn } from './columns.ts';
import { canChange, scopeTitle } from './scopes.ts';

type Allowed = readonly [token: string, members: number];

/** What an app may change and see, in words, and how many members allow each. */
export function powers({ scopes }: Sources<'scopes'>, held: readonly Pick<Held, 'scopes'>[]): Html {
  const texts = Map.groupBy(held, (one) => [...one.scopes].join(' '));
  const members = new Map<string, number>();
  for (const [text, all] of texts)
    for (const token of new Set(text.split(' '))) members.set(token, (members.get(token) ?? 0) + all.length);
  const tokens = [...members].toSorted(([, a], [, b]) => b - a);
  const columns: readonly Column<Allowed>[] = [
    { title: 'In words', isWide: true, cell: ([token]) => scopeTitle(scopes, token) },
    { title: 'Scope', cell: ([token]) => html`<code>${token}</code>` },
    ...(held.length > 1 ? [countColumn('Members', ([, count]: Allowed) => count)] : []),
  ];
  const card = (title: string, changes: boolean) => {
    const rows = tokens.filter(([token]) => canChange(scopes, [token]) === changes);
    return html`<section class="card"><h2>${title}</h2>
${rows.length === 0 ? html`<p class="muted">Nothing.</p>` : listTable({ label: title, columns, rows })}</section>`;
  };
  return html`<div class="cards">${card('Can change', true)}
${card('Can see', false)}</div>`;
}
