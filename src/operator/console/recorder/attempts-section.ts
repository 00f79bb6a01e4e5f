import { type Html, html } from '../../../http/html.ts';
import { factOf } from '../../../operations/record/attempt.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import { appLink, memberLink } from '../kit/links.ts';
import { type TrailItem, trailList } from '../kit/trail.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { badge } from './attempts-list.ts';
import { type Explained, type Explaining, everyAttempt } from './explained.ts';
import { marked } from './marked.ts';
import { kindName } from './words.ts';

/** The newest, whatever their state, and with those that stopped. */
const [NEWEST, SHOWN] = [3, 6];

/** The section of a member's or an app's page with its latest attempts: why they stopped, and what to do. */
export async function attemptsSection(
  sources: Explaining & Sources<'times'>,
  of: { readonly member: string } | { readonly app: string },
): Promise<Html> {
  const [fact, id] = 'member' in of ? (['member', of.member] as const) : (['clientId', of.app] as const);
  const own = (await everyAttempt(sources)).filter(({ attempt }) => factOf(attempt, fact) === id);
  const shown = own.filter(({ state }, at) => at < NEWEST || state === 'stopped').slice(0, SHOWN);
  return html`<section class="card"><h2>Attempts to connect</h2>
${
  own.length === 0
    ? html`<p class="muted">None in the last 24 hours.${'member' in of && ' An attempt that stopped before the sign-in names no member: look for its app under '}${'member' in of && html`<a href="${pathOf('connections')}">Connections</a>.`}</p>`
    : html`${trailList(shown.map((one) => item(one, sources, 'member' in of)))}
${own.length > shown.length && html`<p class="more"><a href="${withQuery(pathOf('connections'), of)}">All ${own.length} attempts of the last 24 hours</a></p>`}`
}</section>`;
}

function item(
  { attempt, name, app, member, state, at, why }: Explained,
  { times }: Sources<'times'>,
  ofMember: boolean,
): TrailItem {
  const remedy = why?.operator ?? why?.developer;
  const whose = ofMember
    ? app && html`app ${appLink({ id: app.id, name })}`
    : member && html`member ${memberLink(member)}`;
  return {
    head: html`${times.both(lastOf(attempt).at)} ${badge(state)} <strong><a href="${pathOf('connections', attempt.id)}">${why?.title ?? (state === 'open' ? `At “${kindName(at.kind)}”` : name)}</a></strong>`,
    about: [
      whose,
      remedy && html`${why?.operator === undefined ? 'The app’s developer:' : 'You can:'} ${marked(remedy)}`,
    ],
  };
}
