import { type Html, html } from '../../../http/html.ts';
import { accessText, watchedText } from '../../connect/course-text.ts';
import type { Course, Courses } from '../../connect/courses.ts';
import { problemNote, stepCard } from './cards.ts';
import { SCOPE_CHOICES } from './lessons.ts';
import { type Mask, shortened, whole } from './mask.ts';
import type { Walk } from './walk.ts';

/** Courses shown by default; the others are in a `details` element. */
const FIRST_COURSES = 6;

/** The page before connecting. */
export function welcome(gate: string): Html {
  return html`<section class="hero">
    <p class="lead">Study Buddy is an app that is not part of the school. With your approval it reads which courses you
      take, using the login you already have. It never sees your password.</p>
    ${connectForm()}
    <p class="note">The school: <code>${gate}</code>. This is a demo: afterwards you see every request and response, step
      by step, with the standard behind it.</p>
  </section>`;
}

/** The page while connecting, connected or disconnected. */
export function walkPage(walk: Walk, secretsShown: boolean): Html {
  const mask: Mask = secretsShown ? whole : shortened;
  const last = walk.steps.at(-1);
  return html`<div class="columns">
    <div class="app">
      ${status(walk)}
      ${last?.problem !== undefined && html`<p class="problem"><a href="#step-${last.number}">Step ${last.number}</a> did not work. ${last.problem.advice}</p>`}
      ${buttons(walk)}
      ${walk.courses !== undefined && courseList(walk.courses)}
    </div>
    <section class="wire" aria-labelledby="wire-title">
      <h2 id="wire-title">Requests and responses</h2>
      <p class="note">${
        secretsShown
          ? html`Secrets are shown in full: do not share this page. <a href="/">Shorten them</a>`
          : html`Tokens, codes and secrets are shortened, so a screenshot reveals nothing. <a
              href="/?secrets=shown">Show them in full</a>`
      }</p>
      <ol class="steps">${walk.steps.map((step, index) => stepCard(step, index === walk.steps.length - 1, mask))}</ol>
      <p class="note"><a href="#study-buddy">Back to the top</a></p>
    </section>
  </div>`;
}

/** A page with an error message only. */
export function problemPage(problem: { readonly message: string; readonly advice: string }): Html {
  return html`<section class="hero">${problemNote(problem)}<p><a class="button" href="/">Back to Study Buddy</a></p></section>`;
}

function connectForm(): Html {
  return html`<form method="post" action="/connect">
    <button class="primary big">Connect</button>
    <details class="choices"><summary>What to ask for</summary>
      <fieldset><legend>Scopes</legend>${SCOPE_CHOICES.map(
        ([scope, meaning, chosen]) =>
          html`<label><input type="checkbox" name="scope" value="${scope}"${chosen && html` checked`}>
            <span><code>${scope}</code> ${meaning}</span></label>`,
      )}</fieldset>
    </details>
  </form>`;
}

function status(walk: Walk): Html {
  if (walk.disconnected) {
    return html`<h2>You disconnected Study Buddy</h2><p>The school no longer accepts its tokens: you disconnected it
      there, or the connection has expired. The requests and responses stay here until you start over.</p>
      <p>You can connect it again at any time.</p>`;
  }
  if (walk.revoked) return html`<h2>Disconnected</h2><p>Study Buddy has revoked its tokens.</p>`;
  if (walk.tokens !== undefined) {
    const who = walk.courses?.member?.email;
    return html`<h2>Connected</h2><p>${who !== undefined ? html`As <strong>${who}</strong>, with` : 'With'} the scopes
      ${walk.tokens.scope.split(' ').map((scope) => html`<code>${scope}</code> `)}</p>`;
  }
  if (walk.pending !== undefined) {
    return html`<h2>Waiting for the school</h2><p>The school has not sent the browser back yet.</p>
      <p><a class="button" href="${walk.pending.url}">Continue to the school</a></p>`;
  }
  return html`<h2>Not connected</h2>`;
}

function buttons(walk: Walk): Html {
  const has = walk.tokens !== undefined;
  const button = (action: string, label: string, kind = ''): Html =>
    html`<form method="post" action="/${action}"><button class="${kind}">${label}</button></form>`;
  const connected = [
    button('courses', 'Read my courses again'),
    button('refresh', 'Refresh the token'),
    button('introspect', 'Show what the token is'),
    button('revoke', 'Disconnect', 'danger'),
  ];
  const disconnected = [
    button('courses', 'Try to read anyway', 'primary'),
    button('introspect', 'Show what the token is'),
  ];
  return html`<div class="buttons">
    ${walk.disconnected && connectAgain(walk.scope)}
    ${has && (walk.revoked ? disconnected : connected)}
    ${button('start-over', 'Start over', has || walk.disconnected ? '' : 'primary')}
  </div>`;
}

/** Connects with the scopes of the connection that is over. */
function connectAgain(scope: string): Html {
  return html`<form method="post" action="/connect">
    ${scope.split(' ').map((name) => html`<input type="hidden" name="scope" value="${name}">`)}
    <button class="primary">Connect again</button></form>`;
}

function courseList({ courses, total, source }: Courses): Html {
  const own = source === 'Account API';
  const rest = courses.slice(FIRST_COURSES);
  return html`<section aria-labelledby="courses-title"><h2 id="courses-title">${own ? 'My courses' : 'Courses of the school'} <small>${total}</small></h2>
    ${courses.length === 0 ? html`<p>No courses yet.</p>` : table('The first courses', courses.slice(0, FIRST_COURSES), own)}
    ${rest.length > 0 && html`<details class="rest"><summary>${rest.length} more</summary>${table('More courses', rest, own)}</details>`}
    <p class="note">From the ${source}${courses.length < total && html`, the first ${courses.length} of ${total}`}.</p>
  </section>`;
}

/** Courses that are not the member's own have only a name. */
function table(caption: string, courses: readonly Course[], own: boolean): Html {
  return html`<table><caption class="unseen">${caption}</caption>
    <thead><tr><th scope="col">Course</th>${own && html`<th scope="col">Access until</th><th scope="col">Last watched</th>`}</tr></thead>
    <tbody>${courses.map(
      (course) =>
        html`<tr><th scope="row">${course.slug}</th>${
          own && html`<td class="day">${accessText(course)}</td><td>${watchedText(course)}</td>`
        }</tr>`,
    )}</tbody></table>`;
}
