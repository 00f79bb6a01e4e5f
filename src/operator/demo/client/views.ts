import { type Html, html } from '../../../http/html.ts';
import { type Courses, type ListedCourse, playbackTime } from '../../connect/courses.ts';
import { problemNote, shortened, stepCard, whole } from './cards.ts';
import scopes from './scopes.json' with { type: 'json' };
import type { Walk } from './walk.ts';

/** Courses shown by default; the others are in a `details` element. */
const FIRST_COURSES = 4;

/** The page before connecting. */
export function welcome(gate: string): Html {
  return html`<section class="hero">
    <p class="lead">Study Buddy is an app that is not part of the school. With your approval it reads which courses you
      take, using the login you already have. It never sees your password.</p>
    <form method="post" action="/connect">
      <button class="primary big">Connect</button>
      <details class="choices"><summary>What to ask for</summary>
        <fieldset><legend>Scopes</legend>${scopes.map(
          ({ name, meaning, chosen }) =>
            html`<label><input type="checkbox" name="scope" value="${name}"${chosen && html` checked`}>
              <span><code>${name}</code> ${meaning}</span></label>`,
        )}</fieldset>
      </details>
    </form>
    <p class="note">The school: <code>${gate}</code>. This is a demo: afterwards you see every request and response, step
      by step, with the standard behind it.</p>
  </section>`;
}

/** The page while connecting, connected or disconnected. `now` is in milliseconds. */
export function walkPage(walk: Walk, now: number, secretsShown: boolean): Html {
  const { steps, courses } = walk;
  const last = steps.at(-1);
  return html`<div class="columns">
    <div class="app">
      ${status(walk)}
      ${last?.problem && html`<p class="problem"><a href="#step-${last.number}">Step ${last.number}</a> did not work. ${last.problem.advice}</p>`}
      <div class="buttons">${buttons(walk)}</div>
      ${courses && courseList(courses, now)}
    </div>
    <section class="wire" aria-labelledby="wire-title">
      <h2 id="wire-title">Requests and responses</h2>
      <p class="note">${
        secretsShown
          ? html`Secrets are shown in full: do not share this page. <a href="/">Shorten them</a>`
          : html`Tokens, codes and secrets are shortened, so a screenshot reveals nothing. <a
              href="/?secrets=shown">Show them in full</a>`
      }</p>
      <ol class="steps">${steps.map((step) => stepCard(step, step === last, secretsShown ? whole : shortened))}</ol>
      <p class="note"><a href="#study-buddy">Back to the top</a></p>
    </section>
  </div>`;
}

/** A page with an error message only. */
export function problemPage(message: string, advice: string): Html {
  return html`<section class="hero">${problemNote(message, advice)}<p><a class="button" href="/">Back to Study Buddy</a></p></section>`;
}

function status({ over, tokens, courses, request, callback }: Walk): Html {
  if (over === 'disconnected') {
    return html`<h2>You disconnected Study Buddy</h2><p>The school no longer accepts its tokens: you disconnected it
      there, or the connection has expired. The requests and responses stay here until you start over.</p>
      <p>You can connect it again at any time.</p>`;
  }
  if (over === 'revoked') return html`<h2>Disconnected</h2><p>Study Buddy has revoked its tokens.</p>`;
  if (tokens !== undefined) {
    const who = courses?.member?.email;
    const granted = tokens.scope.split(' ');
    const meaningOf = (scope: string) => scopes.find(({ name }) => name === scope)?.meaning;
    return html`<h2>Connected</h2><p>${who !== undefined && html`As <strong>${who}</strong>.`}</p>
      <details class="choices"><summary>What you allowed <small>${granted.length}</small></summary>
        <ul>${granted.map((scope) => html`<li>${meaningOf(scope)} <code>${scope}</code></li>`)}</ul></details>`;
  }
  if (request !== undefined && callback === undefined) {
    return html`<h2>Waiting for the school</h2><p>The school has not sent the browser back yet.</p>
      <p><a class="button" href="${request.url}">Continue to the school</a></p>`;
  }
  return html`<h2>Not connected</h2>`;
}

function buttons({ over, tokens, scope }: Walk): Html {
  const button = (action: string, label: string, kind = '', fields: readonly Html[] = []): Html =>
    html`<form method="post" action="/${action}">${fields}<button class="${kind}">${label}</button></form>`;
  if (over === 'disconnected') {
    const scopes = scope.split(' ').map((name) => html`<input type="hidden" name="scope" value="${name}">`);
    return html`${button('connect', 'Connect again', 'primary', scopes)}${button('start-over', 'Start over')}`;
  }
  if (tokens === undefined) return button('start-over', 'Start over', 'primary');
  const revoked = over === 'revoked';
  return html`
    ${revoked ? button('courses', 'Try to read anyway', 'primary') : button('courses', 'Read my courses again')}
    ${!revoked && button('refresh', 'Refresh the token')}
    ${button('introspect', 'Show what the token is')}
    ${!revoked && button('revoke', 'Disconnect', 'danger')}
    ${button('start-over', 'Start over')}`;
}

function courseList({ courses, total, source }: Courses, now: number): Html {
  const title = source === 'Account API' ? 'My courses' : 'Courses of the school';
  const items = courses.map((course) => courseItem(course, now));
  const rest = items.slice(FIRST_COURSES);
  return html`<section aria-labelledby="courses-title"><h2 id="courses-title">${title} <small>${total}</small></h2>
    ${items.length === 0 ? html`<p>No courses yet.</p>` : html`<ul class="courses">${items.slice(0, FIRST_COURSES)}</ul>`}
    ${rest.length > 0 && html`<details><summary>${rest.length} more</summary><ul class="courses">${rest}</ul></details>`}
    <p class="note">From the ${source}${courses.length < total && html`, the first ${courses.length} of ${total}`}.</p>
  </section>`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });

function courseItem({ slug, access, watched }: ListedCourse, now: number): Html {
  const facts = [
    access.kind === 'until' && until(access.date, now),
    access.kind === 'lifetime' && 'access for life',
    watched.kind === 'at' && `stopped at ${playbackTime(watched.seconds)}`,
    watched.kind === 'none' && 'not started',
  ].filter((fact) => fact !== false);
  return html`<li><strong>${titleOf(slug)}</strong>
    <span>${facts.map((fact, at) => html`${at > 0 && ' · '}${fact}`)}</span></li>`;
}

function until(end: Date, now: number): Html {
  const day = DAY.format(end);
  return end.getTime() > now ? html`access until ${day}` : html`<strong class="ended">access ended ${day}</strong>`;
}

/** A slug in words: the Account API has no titles. Anything else is left as it is. */
function titleOf(slug: string): string {
  if (!/^[a-z\d]+(?:-[a-z\d]+)*$/.test(slug)) return slug;
  return slug.charAt(0).toUpperCase() + slug.slice(1).replaceAll('-', ' ');
}
