import { type Approval, type Approvals, storedApprovals } from '../../approvals/approvals.ts';
import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { unixSeconds } from '../../storage/store.ts';
import { knownApp } from '../connected-apps/known-app.ts';
import { backFromSignIn, forSignedIn, type MemberRequest } from '../connected-apps/member-request.ts';
import { signOutFormOf } from '../connected-apps/sign-out.ts';
import { csrfToken, isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import { accountOf } from '../members.ts';
import { approvalPage, decidedPage, noApprovalPage } from '../pages/approval.ts';
import { redirect } from '../pages/pages.ts';

interface ApprovalPagesParts extends InteractionParts {
  readonly approvals: Approvals;
}

const BODY_LIMIT = 4 * 1024;

/**
 * The page on which a member approves or declines one call of an app. Each step identifies the member again. A call of
 * another member and one that does not exist are the same 404.
 */
export function createApprovalPages(given: InteractionParts) {
  const parts = { ...given, approvals: storedApprovals(given.store, given.clock) };
  const forMember = (exchange: Exchange, work: (request: MemberRequest) => Promise<void>) =>
    forSignedIn(parts, exchange, `${pathOf(exchange)}/return`, work);
  return {
    show: (exchange: Exchange) => forMember(exchange, (request) => show(parts, request)),
    returned: (exchange: Exchange) =>
      backFromSignIn(parts, exchange, `${pathOf(exchange)}/return`, () => pathOf(exchange)),
    async decide(exchange: Exchange) {
      refuseCrossSite(exchange.request, parts.origin);
      await forMember(exchange, (request) => decide(parts, request));
    },
  };
}

/** The handlers of this page. */
export type ApprovalPages = ReturnType<typeof createApprovalPages>;

async function show(parts: ApprovalPagesParts, request: MemberRequest): Promise<void> {
  const { exchange, member, carried } = request;
  const { pages, csrfKeys, clock } = parts;
  const approval = await findOwn(parts, request);
  if (approval === undefined) {
    const view = { account: accountOf(member), signOut: signOutFormOf(parts, member, carried) };
    return pages.send(exchange.response, 404, (words) => noApprovalPage(words, view));
  }
  const { state, clientId, title, scopes, request: line, given, preview, content, expiresAt } = approval;
  const left = expiresAt - unixSeconds(clock);
  if (state !== 'waiting') return pages.send(exchange.response, 200, (words) => decidedPage(words, state, left));
  const view = {
    app: await knownApp(parts, clientId),
    account: accountOf(member),
    titles: title === undefined ? scopes.map((token) => parts.scopes[token]?.title ?? token) : [title],
    request: line,
    given,
    preview,
    content,
    left,
    action: pathOf(exchange),
    csrf: csrfToken(csrfKeys, actOf(approval), member.sub),
  };
  pages.send(exchange.response, 200, (words) => approvalPage(words, view));
}

async function decide(parts: ApprovalPagesParts, request: MemberRequest): Promise<void> {
  const { exchange, member } = request;
  const form = new URLSearchParams((await readBody(exchange.request, BODY_LIMIT)).toString('utf8'));
  const approval = await findOwn(parts, request);
  const decision = DECISIONS[form.get('decision') ?? ''];
  // A form that was shown for another call or to another member. What there is now is shown instead.
  const isOurs = approval !== undefined && isCsrfToken(form.get('csrf'), parts.csrfKeys, actOf(approval), member.sub);
  if (!isOurs || decision === undefined) return redirect(exchange.response, pathOf(exchange));
  const expiresAt = await parts.approvals.decide(approval, decision.state);
  // A double click: the first has decided.
  if (expiresAt === undefined) return show(parts, request);
  const { id, clientId, grantId, what } = approval;
  const clientName = (await knownApp(parts, clientId))?.name;
  const decided = { action: decision.action, by: 'member', member: member.sub, clientId, clientName, grantId } as const;
  parts.audit({ ...decided, ...what, approval: id });
  const left = expiresAt - unixSeconds(parts.clock);
  parts.pages.send(exchange.response, 200, (words) => decidedPage(words, decision.state, left));
}

const DECISIONS: Readonly<
  Record<string, { state: 'approved' | 'declined'; action: 'approval_given' | 'approval_declined' } | undefined>
> = {
  approve: { state: 'approved', action: 'approval_given' },
  deny: { state: 'declined', action: 'approval_declined' },
};

/** The call that the address names, if it is this member's and its app is still connected. */
async function findOwn(
  { approvals, grants }: ApprovalPagesParts,
  { exchange, member }: MemberRequest,
): Promise<Approval | undefined> {
  const found = await approvals.find(idOf(exchange));
  if (found?.member !== member.sub || !(await grants.isActive(found.grantId))) return undefined;
  return found;
}

/** One CSRF token for each time that a call is asked for: an old form approves nothing. */
function actOf({ id, nonce }: Approval): string {
  return `approval ${id} ${nonce}`;
}

function pathOf(exchange: Exchange): string {
  return `${ENDPOINTS.approvals}/${idOf(exchange)}`;
}

function idOf({ target }: Exchange): string {
  return /^[\w-]{43}$/.exec(target.path.split('/')[4] ?? '')?.[0] ?? 'unknown';
}
