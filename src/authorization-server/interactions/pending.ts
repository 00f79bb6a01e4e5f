import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { StepFacts } from '../../http/connection-step.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import { parseScope } from '../../oauth/scope.ts';
import type { AuditEvent } from '../../operations/audit.ts';
import { clientHost } from '../client-host.ts';
import { appView } from '../consent-view.ts';
import { COOKIE_NAMES } from '../cookies.ts';
import { csrfToken } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { accountOf } from '../members.ts';
import { PageFailure } from '../pages/page-failure.ts';
import { preferLanguages } from '../pages/pages.ts';
import type { CancelForm, WaitingApp } from '../pages/waiting-app.ts';
import type { InteractionParts } from './interaction-parts.ts';
import type { SignInWishes } from './sign-in-wishes.ts';

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
type Client = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>;

/** An authorization request that waits for the member, and the request of their browser that concerns it. */
export interface Pending {
  readonly exchange: Exchange;
  readonly interaction: Interaction;
  /** Undefined when the app was deleted or disabled in the meantime. */
  readonly client: Client | undefined;
}

const OUTCOMES: Partial<Readonly<Record<AuditEvent['action'], string>>> = {
  signed_in: 'signed-in',
  consent_given: 'approved',
  consent_denied: 'denied',
};

const LONGEST_UID = 64;

/** `max_age` for an app that only requires to know when the member signed in: ten years. */
const ANY_AGE = 315_360_000;

/**
 * Finds the interaction that both the browser's cookie and the URL name, and switches the page to its language.
 * Throws PageFailure `invalid_request` when there is none.
 */
export async function findPending(parts: InteractionParts, exchange: Exchange): Promise<Pending> {
  const provider = parts.provider();
  const interaction = await findInteraction(provider, exchange);
  preferLanguages(interaction.params.ui_locales);
  return { exchange, interaction, client: await findClient(provider, interaction) };
}

/** The app of an interaction; undefined when it was deleted or disabled in the meantime. */
export function findClient(provider: Provider, { params }: Interaction): Promise<Client | undefined> {
  return provider.Client.find(String(params.client_id)).catch(unlessStoreFails);
}

/** An app that is disabled, or whose metadata document cannot be used now. Without the store, its demands would go unnoticed. */
function unlessStoreFails(thrown: unknown): undefined {
  if (!(thrown instanceof errors.OIDCProviderError)) throw thrown;
}

async function findInteraction(provider: Provider, exchange: Exchange): Promise<Interaction> {
  try {
    const interaction = await provider.interactionDetails(exchange.request, exchange.response);
    if (exchange.target.path.split('/')[3] === interaction.uid) return interaction;
  } catch (thrown) {
    if (!(thrown instanceof errors.SessionNotFound)) throw thrown;
  }
  const sent = exchange.request.headers.cookie?.includes(`${COOKIE_NAMES.interaction}=`) ?? false;
  exchange.record.noteStep(stepOf(exchange), {
    outcome: 'lost',
    page: exchange.target.path.split('/')[3]?.slice(0, LONGEST_UID),
    detail: sent ? 'the interaction is over' : 'the browser sent no cookie of the interaction',
  });
  throw new PageFailure('invalid_request', 'failure.interaction_over');
}

/** The app as pages name it, before the member is asked about it. */
export function waitingAppOf(
  { pages }: Pick<InteractionParts, 'pages'>,
  { client, interaction }: Pick<Pending, 'client' | 'interaction'>,
): WaitingApp | undefined {
  return client && appView(client, String(interaction.params.redirect_uri), pages.school);
}

/** Notes for the connection recorder what happened on the pages of an interaction. */
export function notePending(pending: Pending, kind: 'sign-in' | 'consent', facts: StepFacts): void {
  const { exchange, interaction, client } = pending;
  const { uid: page, cid } = interaction;
  const clientId = String(interaction.params.client_id);
  exchange.record.noteStep(kind, { page, interaction: cid, clientId, clientName: client?.clientName, ...facts });
}

/** Only the consent page posts. */
function stepOf({ request }: Exchange): 'sign-in' | 'consent' {
  return request.method === 'POST' ? 'consent' : 'sign-in';
}

export function auditPending(
  { audit }: InteractionParts,
  pending: Pending,
  event: Pick<AuditEvent, 'action'> & Partial<Pick<AuditEvent, 'member' | 'grantId' | 'reason'>>,
): void {
  const { interaction, client } = pending;
  const { params } = interaction;
  const { member, grantId, reason } = event;
  const kind = event.action.startsWith('consent') ? 'consent' : 'sign-in';
  notePending(pending, kind, { outcome: reason ?? OUTCOMES[event.action], member, grantId });
  audit({
    clientId: String(params.client_id),
    clientName: client?.clientName,
    // An app may have registered several redirect URIs: this names the one that the answer goes to.
    clientHost: clientHost(String(params.redirect_uri)),
    member: undefined,
    grantId: undefined,
    ...event,
  });
}

/** The path that the interaction's pages are shown at and post to. */
export function interactionPath({ uid }: Interaction): string {
  return `${ENDPOINTS.interaction}/${uid}`;
}

/** Where the Cancel form of a page posts to, and the token that it carries for the member it is shown to. */
export function cancelForm(
  { csrfKeys }: InteractionParts,
  interaction: Interaction,
  sub: string | undefined,
): CancelForm {
  return { action: interactionPath(interaction), csrf: csrfToken(csrfKeys, interaction.uid, sub ?? '') };
}

/** What a page says that stops a member: who is signed in, which app waits, and the way out. */
export function stopView(parts: InteractionParts, pending: Pending, member: Member | undefined) {
  return {
    account: member && accountOf(member),
    app: waitingAppOf(parts, pending),
    cancel: cancelForm(parts, pending.interaction, member?.sub),
  };
}

/** The address of the backend's sign-in page, from where the member comes back to this interaction. */
export function signInUrl(
  { connector, origin }: InteractionParts,
  pending: Pending,
  wish: { readonly another?: boolean } = {},
): string {
  const { interaction } = pending;
  const { login_hint, ui_locales, prompt } = interaction.params;
  const { fresh, maxAge, acrValues } = wishesOf(pending);
  const asked = {
    loginHint: sent(login_hint),
    uiLocales: sent(ui_locales),
    fresh,
    maxAge,
    acrValues: acrValues.length === 0 ? undefined : acrValues.join(' '),
    another: wordsOf(prompt).includes('select_account'),
  };
  const returnTo = new URL(`${interactionPath(interaction)}/return`, origin);
  return connector.signInUrl(returnTo, { ...asked, ...wish }).href;
}

/** What the request asks of the sign-in. */
function wishesOf({ interaction, client }: Pending): SignInWishes {
  const { params, iat } = interaction;
  const maxAge = params.max_age === undefined ? Number.NaN : Number(params.max_age);
  return {
    fresh: wordsOf(params.prompt).includes('login'),
    maxAge: Number.isSafeInteger(maxAge) ? maxAge : client?.requireAuthTime === true ? ANY_AGE : undefined,
    acrValues: wordsOf(params.acr_values),
    askedAt: iat,
  };
}

/**
 * What the request still asks of this member's sign-in. The member of the login step has met it when the consent step
 * begins; another member who has signed in since has not.
 */
export function openWishesOf(pending: Pending, member: Member | undefined): SignInWishes {
  const { prompt, session } = pending.interaction;
  const met = prompt.name === 'consent' && (member === undefined || session?.accountId === member.sub);
  return met ? { fresh: false, maxAge: undefined, acrValues: [], askedAt: 0 } : wishesOf(pending);
}

export function requestedScopes({ params }: Interaction): ReadonlySet<string> {
  return parseScope(String(params.scope ?? '')) ?? new Set();
}

/** The resources that the app asked for, already normalized, or the gate's own audience. */
export function requestedResources({ indicators }: InteractionParts, { params }: Interaction): readonly string[] {
  const { resource } = params;
  if (Array.isArray(resource)) return resource.map(String);
  return [typeof resource === 'string' ? resource : indicators.audience];
}

/** The values of a space-separated parameter; none if it is absent. */
function wordsOf(parameter: unknown): readonly string[] {
  return (sent(parameter) ?? '').split(' ').filter(Boolean);
}

/** An optional parameter of the authorization request. */
function sent(parameter: unknown): string | undefined {
  return typeof parameter === 'string' ? parameter : undefined;
}
