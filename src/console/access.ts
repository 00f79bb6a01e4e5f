import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, SWITCHED_OFF } from '../authorization-server/administration/caller.ts';
import { GatewayError } from '../errors.ts';
import { readBody } from '../http/body.ts';
import { html } from '../http/html.ts';
import { readFields, readQuery } from './fields.ts';
import { ROOT, SIGN_IN, see, sendView } from './frame.ts';
import type { Session, Sessions } from './session.ts';

/** Bytes. Ample for the longest secret. */
const BODY_LIMIT = 4096;
const LONGEST_RETURN = 1024;

export interface AccessOptions {
  readonly school: string;
  readonly sessions: Sessions;
  /** The secrets that are accepted for commands. */
  readonly secrets: readonly string[];
  readonly mtls: boolean;
  /** Ids of sessions that were signed out. */
  readonly ended: Set<string>;
  readonly refusal: Refusal;
}

/** Who may see the console: see docs/console.md. */
export function createAccess({ school, sessions, secrets, mtls, ended, refusal }: AccessOptions) {
  return {
    /** The session of a request, or undefined. Throws `forbidden` when the console is switched off. */
    find(request: IncomingMessage): Session | undefined {
      if (secrets.length === 0 && !mtls) throw new GatewayError('forbidden', { message: SWITCHED_OFF });
      const session = sessions.find(request);
      return session === undefined || ended.has(session.id) ? undefined : session;
    },

    /** Sends the browser to the sign-in form, which leads back. */
    ask(request: IncomingMessage, response: ServerResponse): void {
      const wanted = request.url ?? ROOT;
      const back = wanted === ROOT || !isConsolePath(wanted) ? '' : `?${new URLSearchParams({ to: wanted })}`;
      see(response, SIGN_IN + back);
    },

    form(request: IncomingMessage, response: ServerResponse): void {
      const { to = ROOT } = readQuery((request.url ?? '').split('?')[1] ?? '');
      sendView(response, 200, { title: 'Sign in', body: signInForm(to) }, school);
    },

    async submit(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { secret = '', to = ROOT } = readFields((await readBody(request, BODY_LIMIT)).toString('utf8'));
      const matched = secrets.find((one) => isSame(one, secret));
      if (matched === undefined)
        throw refusal(request, 'the secret is not the one in admin.hmac', 'Coursegate-Signature');
      const session = sessions.begin(sessions.boundToSecret(matched));
      response.setHeader('set-cookie', sessions.cookie(request, session));
      see(response, isConsolePath(to) ? to : ROOT);
    },

    signOut(request: IncomingMessage, response: ServerResponse, session: Session): void {
      ended.add(session.id);
      response.setHeader('set-cookie', sessions.cleared(request));
      see(response, SIGN_IN);
    },
  };
}

function signInForm(to: string) {
  return html`<form class="fields" method="post" action="${SIGN_IN}">
<input type="hidden" name="to" value="${to}">
<label for="secret">Admin secret</label>
<input id="secret" name="secret" type="password" autocomplete="off" required>
<button class="go">Sign in</button>
</form>`;
}

/** In constant time. */
function isSame(known: string, given: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(known), digest(given));
}

/** Whether a target that came from outside is a path of the console. */
export function isConsolePath(target: string): boolean {
  return target.length <= LONGEST_RETURN && /^\/console(?:[/?][!-~]*)?$/.test(target);
}
