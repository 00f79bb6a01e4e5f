import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { type Callers, callerRefusals, SWITCHED_OFF } from '../../authorization-server/administration/caller.ts';
import { GatewayError } from '../../errors.ts';
import { readBody } from '../../http/body.ts';
import { queryOf, readFields } from '../../http/fields.ts';
import { isSameSecret } from '../../http/same-secret.ts';
import { trustedProxies } from '../../http/trusted-proxies.ts';
import { unixSeconds } from '../../storage/store.ts';
import type { OnceOnly } from './console-state.ts';
import { type ConsoleFrame, SIGN_IN, SIGN_OUT, see } from './frame.ts';
import { LINK_LIFETIME, verifyLink } from './link.ts';
import { isConsolePath, mountOf, ROOT } from './paths.ts';
import { isOwnRequest } from './same-origin.ts';
import { type Binding, type ConsoleSessions, type Session, TOTAL } from './session.ts';
import { type ConsoleSignInView, signedOutPage, signInPage } from './sign-in-page.ts';

/** Bytes of the form, and characters of a field. Ample for the longest secret. */
const BODY_LIMIT = 4096;

const isLoopback = trustedProxies(['loopback']);

const WRONG_SECRET = 'That is not the admin secret.';
const WRONG_LINK = 'This link has expired or was already used. Run coursegate console again.';
const IN_CLEAR = 'The admin secret is not accepted over a connection that is neither encrypted nor from this machine.';

interface AccessParts {
  readonly frame: ConsoleFrame;
  readonly sessions: ConsoleSessions;
  readonly onceOnly: OnceOnly;
}

export type Access = ReturnType<typeof createAccess>;

/** Access to the console: by the same secret or client certificate as the commands. */
export function createAccess(callers: Callers, { frame, sessions, onceOnly }: AccessParts) {
  const { secrets, mtls, audit, clock } = callers;
  const refusal = callerRefusals(callers);
  const linkOf = (request: IncomingMessage, link: string) =>
    verifyLink(link, secrets, unixSeconds(clock), mountOf(request));
  const open = (request: IncomingMessage, response: ServerResponse, bound: Binding, reason: string): Session => {
    const session = sessions.begin(bound);
    audited('operator_signed_in', response, session, reason);
    response.setHeader('set-cookie', sessions.cookie(request, session));
    return session;
  };
  const audited = (
    action: 'operator_signed_in' | 'operator_signed_out',
    response: ServerResponse,
    { bound: { certificate } }: Session,
    reason?: string,
  ) => {
    const requestId = String(response.getHeader('x-request-id'));
    audit({ action, by: 'operator', reason, certificate, address: response.req.socket.remoteAddress, requestId });
  };

  const show = (
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    view: Pick<ConsoleSignInView, 'to' | 'problem' | 'link'>,
  ): void => {
    const page = signInPage({
      ...view,
      secret: secrets.length === 0 ? 'none' : isConfidential(request) ? 'asked' : 'in clear',
      school: mountOf(request).split('/')[2],
      mtls: mtls !== undefined && sessions.boundToCertificate(request) === undefined,
      fromElsewhere: !isOwnRequest(request),
    });
    frame.send(response, status, page);
  };

  /** What a form proves; undefined if it proves nothing. */
  const proved = async (
    request: IncomingMessage,
    { link, secret = '' }: Readonly<Record<string, string>>,
  ): Promise<{ readonly secret: string; readonly by: string } | undefined> => {
    if (link === undefined) {
      if (!isConfidential(request)) throw new GatewayError('forbidden', { message: IN_CLEAR });
      const matched = secrets.filter((one) => isSameSecret(secret, one));
      return matched[0] === undefined ? undefined : { secret: matched[0], by: 'secret' };
    }
    const verified = linkOf(request, link);
    if (verified === undefined || !(await onceOnly.use(verified.mark, 2 * LINK_LIFETIME + 1))) return undefined;
    return { secret: verified.secret, by: 'link' };
  };

  /**
   * The session of a request, or undefined. A client certificate opens one with the first page. Throws
   * `store_unavailable` for a form while it is unknown whether the session was signed out at another replica.
   */
  const find = async (request: IncomingMessage, response: ServerResponse): Promise<Session | undefined> => {
    if (!isOwnRequest(request)) return undefined;
    const session = sessions.find(request);
    const certainly = request.method === 'POST' && request.url !== SIGN_OUT;
    if (session !== undefined && !(await onceOnly.isUsed(session.id, certainly))) {
      const extended = sessions.extended(request, session);
      if (extended !== undefined) response.setHeader('set-cookie', extended);
      return session;
    }
    const bound = request.method === 'POST' ? undefined : sessions.boundToCertificate(request);
    return bound && open(request, response, bound, 'certificate');
  };

  return {
    /** Throws `forbidden` when the console is switched off. */
    requireConfigured(): void {
      if (secrets.length === 0 && mtls === undefined) throw new GatewayError('forbidden', { message: SWITCHED_OFF });
    },

    find,

    /** Sends the browser to the sign-in page, which leads back. */
    ask(request: IncomingMessage, response: ServerResponse): void {
      const wanted = request.url ?? ROOT;
      const back = wanted === ROOT || !isConsolePath(wanted) ? '' : `?${new URLSearchParams({ to: wanted })}`;
      see(response, SIGN_IN + back);
    },

    async form(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { to, link } = readFields(queryOf(request.url), { longest: BODY_LIMIT });
      const verified = link === undefined ? undefined : linkOf(request, link);
      // A link with another secret opens another session.
      const isFor = verified && sessions.find(request)?.bound.to === sessions.boundToSecret(verified.secret).to;
      if ((link === undefined || isFor) && (await find(request, response)) !== undefined)
        return see(response, returnPath(to));
      const isUsable = verified !== undefined;
      const view = { to: returnPath(to), link: isUsable ? link : undefined };
      if (link === undefined || isUsable) show(request, response, 200, view);
      else show(request, response, 401, { ...view, problem: WRONG_LINK });
    },

    async submit(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const given = readFields((await readBody(request, BODY_LIMIT)).toString('utf8'), { longest: BODY_LIMIT });
      const to = returnPath(given.to);
      const proof = await proved(request, given);
      if (proof !== undefined) {
        open(request, response, sessions.boundToSecret(proof.secret), proof.by);
        return see(response, to);
      }
      const problem = given.link === undefined ? WRONG_SECRET : WRONG_LINK;
      const failure = refusal(
        request,
        given.link === undefined ? 'wrong console secret' : 'wrong console link',
        'Form',
      );
      // Beyond the limit of wrong attempts, there is no reason any more.
      if (failure.code !== 'unauthorized') throw failure;
      show(request, response, failure.status, { to, problem });
    },

    async signOut(request: IncomingMessage, response: ServerResponse, session: Session): Promise<void> {
      await onceOnly.use(session.id, TOTAL);
      audited('operator_signed_out', response, session);
      response.setHeader('set-cookie', sessions.cleared(request));
      frame.send(response, 200, signedOutPage());
    },
  };
}

/** Whether the network cannot read what is sent: over TLS, or from this machine, such as through a tunnel. */
function isConfidential({ socket }: IncomingMessage): boolean {
  return socket instanceof TLSSocket || isLoopback(socket.remoteAddress ?? '');
}

function returnPath(given: string | undefined): string {
  return given !== undefined && isConsolePath(given) ? given : ROOT;
}
