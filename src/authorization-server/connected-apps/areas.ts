import type { ScopeConfig } from '../../config/schema.ts';
import { html } from '../../http/html.ts';
import type { Label } from '../pages/app-row.ts';
import { joined } from '../pages/fold.ts';
import { type Phrase, subjectOf } from '../pages/words.ts';

/** Titles for the names of areas, and which of them are changes. */
export interface AreaNames {
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  /** By name. */
  readonly tools: ReadonlyMap<string, { readonly title: string; readonly scopes: readonly string[] }>;
}

/** What the contract's own fields are called. Fields that an operator adds are shown by their names. */
const FIELDS: Readonly<Record<string, Phrase>> = {
  'field:viewer.id': 'apps.did.id',
  'field:viewer.email': 'apps.did.email',
  'field:viewer.enrolledCourses': 'apps.did.courses',
  'field:viewer.orders': 'apps.did.orders',
  'field:viewer.eventRegistrations': 'apps.did.events',
  'change:savePlaybackPosition': 'apps.did.position',
  'change:cancelEventRegistration': 'apps.did.cancel_event',
  'scope:openid': 'apps.did.identity',
  'approval:given': 'apps.did.approval.given',
  'approval:declined': 'apps.did.approval.declined',
  'approval:used': 'apps.did.approval.used',
};

/** The label of an area (see `areaOf`), which may have been counted under an earlier configuration. */
export function areaLabel(area: string, { scopes, tools }: AreaNames): Label {
  const phrase = FIELDS[area];
  if (phrase !== undefined) return (words) => words.html(phrase);
  const [kind, name] = partsOf(area);
  switch (kind) {
    case 'scope':
      return ({ own }) => {
        const titles = name.split(' ').map((token) => own(scopes[token]?.title ?? token));
        return joined(titles, ', ');
      };
    case 'field':
      return (words) => words.html('apps.did.field', { name: inWords(name) });
    case 'change':
      return (words) => words.html('apps.did.change', { name: inWords(name) });
    case 'tool':
      return (words) => words.html('apps.did.tool', { name: tools.get(name)?.title ?? inWords(name) });
    case 'route':
      return (words) => words.html('apps.did.route', { path: html`<code dir="ltr">${name}</code>` });
    default:
      return (words) => words.html('apps.did.other');
  }
}

/** What scopes are about. */
export function subjectsOf(tokens: readonly string[], { scopes }: AreaNames): readonly Label[] {
  // That an app knows who the member is goes without saying.
  const telling = tokens.length > 1 ? tokens.filter((token) => token !== 'openid') : tokens;
  return telling.map((token) => (words) => subjectOf(words, token, scopes[token]?.title ?? token));
}

/** Whether an area is a change: a mutation, or something that needs a scope for changes. */
export function isChange(area: string, { scopes, tools }: AreaNames): boolean {
  const [kind, name] = partsOf(area);
  const needed = kind === 'scope' ? name.split(' ') : kind === 'tool' ? (tools.get(name)?.scopes ?? []) : [];
  return kind === 'change' || needed.some((token) => scopes[token]?.kind === 'write');
}

/** Whether an area is about single calls that the member decided about. */
export function isApproval(area: string): boolean {
  return partsOf(area)[0] === 'approval';
}

/** The kind and the name of an area, as `areaOf` has joined them. */
export function partsOf(area: string): readonly [kind: string, name: string] {
  const colon = area.indexOf(':');
  return [area.slice(0, Math.max(0, colon)), area.slice(colon + 1)];
}

/** Turns `viewer.phoneNumbers` into `phone numbers`. */
function inWords(name: string): string {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return last
    .replaceAll('_', ' ')
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase();
}
