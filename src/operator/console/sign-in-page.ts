import { type Html, html } from '../../http/html.ts';
import { SIGN_IN, type View } from './frame.ts';
import { ROOT } from './paths.ts';

export interface ConsoleSignInView {
  /** Where the sign-in leads. */
  readonly to: string;
  /** Why it was refused. */
  readonly problem?: string | undefined;
  /** A valid link of `coursegate console`. */
  readonly link?: string | undefined;
  /** Whether there is a secret, and the form asks for it: not where it would cross the network in clear. */
  readonly secret: 'asked' | 'in clear' | 'none';
  /** Its name, if the process has many. */
  readonly school?: string | undefined;
  /** Whether client certificates are accepted. */
  readonly mtls: boolean;
  /** Whether another page led here, so that the browser kept its session to itself. */
  readonly fromElsewhere: boolean;
}

export function signInPage(view: ConsoleSignInView): View {
  const { problem, link } = view;
  return {
    title: link === undefined ? 'Sign in to the console' : 'Open the console',
    body: html`${problem !== undefined && html`<p class="notice bad" role="alert">${problem}</p>`}
${link === undefined ? waysIn(view) : openLink(view.to, link)}`,
  };
}

/** The link opens nothing by itself: programs that look at links in advance would use it up. */
function openLink(to: string, link: string): Html {
  return html`<form method="post" action="${SIGN_IN}">
<input type="hidden" name="to" value="${to}">
<input type="hidden" name="link" value="${link}">
<p>You will be signed in for up to eight hours, or until you do nothing for half an hour.</p>
<p class="actions"><button class="go">Open the console</button></p>
</form>`;
}

function waysIn({ to, secret, school, mtls, fromElsewhere }: ConsoleSignInView): Html {
  return html`${fromElsewhere && html`<p>Already signed in? <a href="${to}">Continue to the console</a></p>`}
${mtls && html`<p>Your browser shows no client certificate that <code>admin.mtls</code> accepts.</p>`}
${
  secret !== 'none' &&
  html`<p>Run this on the machine of the gate, and open the link that it prints:</p>
<pre><code>coursegate console --config coursegate.yaml${school !== undefined && ` --school ${school}`}</code></pre>`
}
${secret === 'asked' && secretForm(to)}
${secret === 'in clear' && html`<p class="muted">You cannot sign in with the secret here: this connection is neither encrypted nor from the machine of the gate.</p>`}`;
}

function secretForm(to: string): Html {
  return html`<form class="fields" method="post" action="${SIGN_IN}">
<h2>Or use the secret</h2>
<input type="hidden" name="to" value="${to}">
<label for="secret">Admin secret</label>
<input id="secret" name="secret" type="password" autocomplete="current-password" aria-describedby="which" maxlength="1024" required>
<p class="muted" id="which">The secret of <code>admin.hmac</code> in the configuration.</p>
<p class="actions"><button class="go">Sign in</button></p>
</form>`;
}

export function signedOutPage(): View {
  return {
    title: 'Signed out',
    body: html`<p>Your session has ended.</p>
<p class="actions"><a class="button" href="${ROOT}">Sign in again</a></p>`,
  };
}
