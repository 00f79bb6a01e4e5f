import type { ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { ScopeConfig } from '../config/schema.ts';
import { asGatewayError } from '../errors.ts';
import { consentDenied, consentGiven, type EventClient, type GateEvent } from '../events/event.ts';
import type { Outbox } from '../events/outbox.ts';
import { readBody } from '../http/body.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import type { LoginConnector, Member } from '../login/connector.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import { parseScope } from '../oauth/scope.ts';
import type { Audit, AuditEvent } from '../operations/audit.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';
import type { Suspensions } from './administration/suspensions.ts';
import type { BackendSessions } from './backend-sessions.ts';
import { clientHost } from './client-host.ts';
import { saveGrant } from './consent-grant.ts';
import { appView, scopeGroups } from './consent-view.ts';
import { type CsrfKeys, csrfToken, isCsrfToken, refuseCrossSite } from './csrf.ts';
import { ENDPOINTS } from './endpoints.ts';
import { describeClient } from './event-client.ts';
import type { Grants } from './grants.ts';
import { accountOf, type Members } from './members.ts';
import { consentPage } from './pages/consent.ts';
import { loginPage } from './pages/login.ts';
import { PageFailure } from './pages/page-failure.ts';
import { type Pages, redirect } from './pages/pages.ts';
import { suspendedPage } from './pages/suspended.ts';
import { mustSignIn, type SignInWishes, type Step } from './sign-in-wishes.ts';
import type { Standings } from './standing.ts';
import { UnitOfWork, withinUnitOfWork } from './unit-of-work.ts';

export interface InteractionOptions {
  readonly provider: Provider;
  readonly connector: LoginConnector;
  readonly members: Members;
  readonly suspensions: Suspensions;
  readonly standings: Pick<Standings, 'maySignIn'>;
  readonly indicators: ResourceIndicators;
  readonly origin: string;
  readonly pages: Pages;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  readonly grants: Grants;
  /** Where members see the apps they let in; undefined: nowhere. */
  readonly connectedApps: string | undefined;
  /** Where the session at the backend is kept that an app acts with; undefined: apps act with none. */
  readonly sessions: BackendSessions | undefined;
  readonly csrfKeys: CsrfKeys;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly store: Store;
  /** What the backend is told of is written down in the commit that makes it so. */
  readonly outbox: Outbox;
}

/**
 * What stands between an authorization request and its answer:
 *
 *   /oauth/authorize -> start --nobody signed in--> the school's own sign-in -> returned
 *                         |                                                      |
 *                         +--member-----------------> login done <--member------+--nobody--> login page
 *                                                        |
 *                                          start (consent) -> consent page -> decide -> the app
 *
 * The member is asked for anew at each step: whoever is signed in when the answer is given is who gives it.
 */
export interface Interactions {
  readonly start: Handler;
  readonly returned: Handler;
  readonly switchAccount: Handler;
  readonly decide: Handler;
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

const BODY_LIMIT = 16 * 1024;

export function createInteractions(options: InteractionOptions): Interactions {
  const { provider, connector, members, suspensions, origin, pages, store, outbox } = options;

  /** What apps call themselves, of the interactions under way. */
  const appNames = new WeakMap<Interaction, string | undefined>();

  const tell = (
    { provenance }: Exchange,
    interaction: Interaction,
    event: Pick<AuditEvent, 'action'> & Partial<Pick<AuditEvent, 'member' | 'grantId' | 'reason'>>,
  ): void => {
    const { params } = interaction;
    options.audit({
      clientId: String(params.client_id),
      clientName: appNames.get(interaction),
      // Of all the places that the app may have, the one that this answer goes to.
      clientHost: clientHost({ redirectUris: [String(params.redirect_uri)] }),
      member: undefined,
      grantId: undefined,
      address: provenance.clientAddress,
      requestId: provenance.requestId,
      ...event,
    });
  };

  const appOf = ({ params }: Interaction): Promise<EventClient> =>
    describeClient(store, String(params.client_id), String(params.redirect_uri));

  /** The interaction, in whose language this request is answered from now on. */
  const found = async (exchange: Exchange): Promise<Interaction> => {
    const interaction = await find(provider, exchange);
    pages.prefer(exchange.response, interaction.params.ui_locales);
    // An app that is gone meanwhile has no name; what comes of that is for the step to say.
    const client = await provider.Client.find(String(interaction.params.client_id)).catch(() => undefined);
    appNames.set(interaction, client?.clientName);
    return interaction;
  };

  const step = async (exchange: Exchange, step: Step): Promise<void> => {
    const { request, response } = exchange;
    const interaction = await found(exchange);
    const member = await connector.identify(request.headers, exchange.provenance).catch((thrown: unknown) => {
      tell(exchange, interaction, { action: 'sign_in_failed', reason: asGatewayError(thrown).code });
      throw thrown;
    });
    const wishes = wishesOf(interaction);
    if (member === undefined || mustSignIn(wishes, member, step, unixSeconds(options.clock))) {
      if (step === 'first-visit') return redirect(response, signInUrl(interaction));
      const reason = member === undefined ? 'not_signed_in' : 'not_as_asked_for';
      tell(exchange, interaction, { action: 'sign_in_failed', member: member?.sub, reason });
      const csrf = csrfToken(options.csrfKeys, interaction.uid, member?.sub ?? '');
      const cancel = { action: `${ENDPOINTS.interaction}/${interaction.uid}`, csrf };
      const account = member === undefined ? undefined : accountOf(member);
      return pages.send(response, 200, (words) =>
        loginPage(words, { account, signIn: signInUrl(interaction), cancel }),
      );
    }
    if (await isSuspended(exchange, interaction, member)) return;
    if (interaction.prompt.name === 'consent' && interaction.session?.accountId === member.sub) {
      return showConsent(response, interaction, member);
    }
    await logIn(exchange, interaction, member);
  };

  const signInUrl = (interaction: Interaction, wish: { another?: boolean } = {}): string => {
    const { login_hint, ui_locales } = interaction.params;
    const returnTo = new URL(`${ENDPOINTS.interaction}/${interaction.uid}/return`, origin);
    const { fresh, maxAge, acrValues } = wishesOf(interaction);
    const asked = {
      loginHint: given(login_hint),
      uiLocales: given(ui_locales),
      fresh,
      maxAge,
      acrValues: acrValues.length === 0 ? undefined : acrValues.join(' '),
    };
    return connector.signInUrl(returnTo, { ...asked, ...wish }).href;
  };

  /** Out: whether the school has suspended the member, who has then been told. */
  const isSuspended = async (exchange: Exchange, interaction: Interaction, member: Member): Promise<boolean> => {
    if ((await suspensions.since(member.sub)) === undefined) return false;
    tell(exchange, interaction, { action: 'sign_in_failed', member: member.sub, reason: 'suspended' });
    const csrf = csrfToken(options.csrfKeys, interaction.uid, member.sub);
    const view = {
      account: accountOf(member),
      cancel: { action: `${ENDPOINTS.interaction}/${interaction.uid}`, csrf },
    };
    pages.send(exchange.response, 403, (words) => suspendedPage(words, view));
    return true;
  };

  /**
   * Hands the result over and sends the browser on. Of two answers given at once, the later finds it over. In: what to
   * do once it is handed over, before the answer; and what the backend is told of it, in the same commit.
   */
  const finish = async (
    { request, response }: Exchange,
    result: InteractionResults,
    done: () => void,
    event?: GateEvent,
  ): Promise<void> => {
    try {
      // A refusal replaces what was submitted before; anything else adds to it.
      const mergeWithLastSubmission = !('error' in result);
      const unit = new UnitOfWork(store);
      const next = await withinUnitOfWork(unit, () =>
        provider.interactionResult(request, response, result, { mergeWithLastSubmission }),
      );
      for (const entry of event === undefined ? [] : outbox.entries(event)) unit.put(entry);
      await unit.commit();
      done();
      redirect(response, next);
    } catch (thrown) {
      if (!(thrown instanceof errors.SessionNotFound)) throw thrown;
      throw new PageFailure('invalid_request', 'failure.interaction_over');
    }
  };

  /** Finishes the login step; a session of another member is ended first, so that nobody continues as somebody else. */
  const logIn = async (exchange: Exchange, interaction: Interaction, member: Member): Promise<void> => {
    const held = interaction.session;
    if (held !== undefined && held.accountId !== member.sub) {
      await (await provider.Session.findByUid(held.uid))?.destroy();
      delete (interaction as { session?: unknown }).session;
      await interaction.save(interaction.exp - unixSeconds(options.clock));
    }
    if (!(await options.standings.maySignIn(member))) {
      tell(exchange, interaction, { action: 'sign_in_failed', member: member.sub, reason: 'account_closed' });
      throw new PageFailure('forbidden', 'failure.account_closed');
    }
    await members.save(member);
    const login = {
      accountId: member.sub,
      remember: false,
      ...(member.authTime === undefined ? {} : { ts: member.authTime }),
      ...(member.acr === undefined ? {} : { acr: member.acr }),
    };
    await finish(exchange, { login }, () => tell(exchange, interaction, { action: 'signed_in', member: member.sub }));
  };

  const showConsent = async (
    response: ServerResponse,
    interaction: Interaction,
    member: Member,
    nothingTicked = false,
  ): Promise<void> => {
    const client = await provider.Client.find(String(interaction.params.client_id));
    if (client === undefined) throw new PageFailure('invalid_request', 'failure.app_gone');
    const requested = parseScope(String(interaction.params.scope ?? '')) ?? new Set();
    const path = `${ENDPOINTS.interaction}/${interaction.uid}`;
    const view = {
      app: appView(client, String(interaction.params.redirect_uri), pages.school),
      account: accountOf(member),
      firstTime: !(await options.grants.knows(member.sub, client.clientId)),
      connectedApps: options.connectedApps,
      ownSession: options.sessions !== undefined,
      // Shown again, it keeps what the member did: they have just unticked everything.
      groups: scopeGroups(requested, options.scopes, !nothingTicked),
      action: path,
      switchAccount: `${path}/switch`,
      csrf: csrfToken(options.csrfKeys, interaction.uid, member.sub),
      nothingTicked,
    };
    pages.send(response, nothingTicked ? 400 : 200, (words) => consentPage(words, view));
  };

  return {
    start: (exchange) => step(exchange, 'first-visit'),
    returned: (exchange) => step(exchange, 'back-from-sign-in'),

    async switchAccount(exchange) {
      const interaction = await found(exchange);
      redirect(exchange.response, signInUrl(interaction, { another: true }));
    },

    async decide(exchange) {
      const { request, response } = exchange;
      refuseCrossSite(request, origin);
      const interaction = await found(exchange);
      const form = new URLSearchParams((await readBody(request, BODY_LIMIT)).toString('utf8'));
      const member = await connector.identify(request.headers, exchange.provenance);
      if (!isCsrfToken(form.get('csrf'), options.csrfKeys, interaction.uid, member?.sub ?? '')) {
        // Another member may have signed in since the page was shown: they are asked, not answered for.
        return redirect(response, `${ENDPOINTS.interaction}/${interaction.uid}`);
      }
      // A double click: the first of the two has answered already.
      if (interaction.result?.consent !== undefined) return redirect(response, interaction.returnTo);
      if (form.get('decision') === 'deny') {
        const result = { error: 'access_denied', error_description: 'the member did not approve' };
        const asked = askedBy(interaction, options.indicators.audience);
        return finish(
          exchange,
          result,
          () => tell(exchange, interaction, { action: 'consent_denied', member: member?.sub }),
          // Of a double click, the first is told.
          interaction.result?.error === undefined
            ? consentDenied(interaction.uid, asked, await appOf(interaction), member?.sub)
            : undefined,
        );
      }
      if (form.get('decision') !== 'approve' || member === undefined || interaction.session?.accountId !== member.sub) {
        return redirect(response, `${ENDPOINTS.interaction}/${interaction.uid}`);
      }
      if (await isSuspended(exchange, interaction, member)) return;
      const requested = [...(parseScope(String(interaction.params.scope ?? '')) ?? [])];
      const ticked = new Set(form.getAll('scope'));
      // `openid` says only who, which the member tells by approving at all: it has no box. Approving that alone, when
      // more was asked for, is more likely a slip than a wish: an app that gets nothing it asked for is no use to anyone.
      const boxes = requested.filter((token) => token !== 'openid');
      if (boxes.length > 0 && !boxes.some((token) => ticked.has(token))) {
        return showConsent(response, interaction, member, true);
      }
      const granted = requested.filter((token) => token === 'openid' || ticked.has(token));
      const client = await appOf(interaction);
      const resources = resourcesOf(interaction, options.indicators.audience);
      const grantId = await saveGrant(provider, {
        member: member.sub,
        clientId: String(interaction.params.client_id),
        granted,
        rejected: requested.filter((token) => !granted.includes(token)),
        resources,
      });
      const grant = { id: grantId, member: member.sub, client, scopes: granted, resources };
      try {
        await options.sessions?.keep(grantId, request.headers.cookie ?? '');
        await finish(
          exchange,
          { consent: { grantId } },
          () => tell(exchange, interaction, { action: 'consent_given', member: member.sub, grantId }),
          consentGiven(grant),
        );
      } catch (thrown) {
        // Nobody will ever hold a token of it.
        await (await provider.Grant.find(grantId))?.destroy();
        throw thrown;
      }
    },
  };
}

/** What the app asked for, as the backend is told of it. */
function askedBy(interaction: Interaction, byDefault: string) {
  const scopes = [...(parseScope(String(interaction.params.scope ?? '')) ?? [])];
  return { scopes, resources: resourcesOf(interaction, byDefault) };
}

/** The resources that the app asked for, normalised when it asked. */
function resourcesOf(interaction: Interaction, byDefault: string): readonly string[] {
  const { resource } = interaction.params;
  return Array.isArray(resource) ? resource.map(String) : [typeof resource === 'string' ? resource : byDefault];
}

/** What is still to be met: once the login step is done, the consent step does not ask for it again. */
function wishesOf(interaction: Interaction): SignInWishes {
  const { prompt, params, iat } = interaction;
  const asked = prompt.name === 'login';
  const maxAge = Number(params.max_age);
  return {
    fresh: asked && prompt.reasons.includes('login_prompt'),
    maxAge: asked && params.max_age !== undefined && Number.isSafeInteger(maxAge) ? maxAge : undefined,
    acrValues: asked && typeof params.acr_values === 'string' ? params.acr_values.split(' ').filter(Boolean) : [],
    askedAt: iat,
  };
}

/** Out: the interaction that this browser's cookie and this URL both name. Throws `invalid_request` for a person. */
async function find(provider: Provider, exchange: Exchange): Promise<Interaction> {
  try {
    const interaction = await provider.interactionDetails(exchange.request, exchange.response);
    if (exchange.target.path.split('/')[3] === interaction.uid) return interaction;
  } catch (thrown) {
    if (!(thrown instanceof errors.SessionNotFound)) throw thrown;
  }
  throw new PageFailure('invalid_request', 'failure.interaction_over');
}

/** A parameter of the authorization request, where it was sent. */
function given(parameter: unknown): string | undefined {
  return typeof parameter === 'string' ? parameter : undefined;
}
