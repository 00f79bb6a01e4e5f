import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import type { Phrase, Words } from './words.ts';

export interface SignInView {
  readonly action: string;
  readonly returnTo: string;
  readonly csrf: string;
  /** The initial value of the first field. */
  readonly username: string;
  readonly problem: Extract<Phrase, `sign_in.${'wrong' | 'slow_down'}`> | undefined;
  /** Seconds until the next attempt, for `sign_in.slow_down`. */
  readonly wait?: number;
}

/** The gate's own sign-in page, for credentials that the course site verifies. */
export function signInPage(words: Words, { action, returnTo, csrf, username, problem, wait = 0 }: SignInView): Page {
  return {
    id: 'sign-in',
    title: words.text('sign_in.title'),
    body: html`
<h1>${words.html('sign_in.heading')}</h1>
${problem !== undefined && html`<p class="notice problem" role="alert" id="problem">${words.html(problem, { wait: waitIn(words.locales, wait) })}</p>`}
<p>${words.html('sign_in.text')}</p>
<form method="post" action="${action}" class="fields">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="return_to" value="${returnTo}">
<label for="username">${words.html('sign_in.username')}</label>
<input id="username" name="username" value="${username}" required maxlength="320" autocomplete="username" autocapitalize="none" spellcheck="false" dir="auto"${focused(username === '')}${described(problem)}>
<label for="password">${words.html('sign_in.password')}</label>
<input id="password" name="password" type="password" required maxlength="1024" autocomplete="current-password"${focused(username !== '')}${described(problem)}>
<div class="actions"><button type="submit">${words.html('sign_in.go')}</button></div>
</form>`,
  };
}

/** Lets the member choose a sign-in provider. */
export function providersPage(
  words: Words,
  providers: readonly { readonly name: string; readonly href: string }[],
): Page {
  return {
    id: 'sign-in',
    title: words.text('sign_in.title'),
    body: html`
<h1>${words.html('sign_in.heading')}</h1>
<p>${words.html('sign_in.choose')}</p>
<ul class="providers">
${providers.map(({ name, href }) => html`<li><a class="button go" href="${href}">${words.html('sign_in.with', { provider: name })}</a></li>`)}
</ul>`,
  };
}

/** Puts the focus on the field to fill in next, without a script. */
function focused(here: boolean) {
  return here && html` autofocus`;
}

/** Formats a wait such as `9 minutes`, rounded up. */
function waitIn(locales: readonly string[], seconds: number): string {
  const [value, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat(locales, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

function described(problem: Phrase | undefined) {
  return problem !== undefined && html` aria-describedby="problem"`;
}
