import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { ScopeConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { readBody } from '../http/body.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import type { LoginConnector, Member } from '../login/connector.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import { parseScope } from '../oauth/scope.ts';
import { type Clock, unixSeconds } from '../storage/store.ts';
import { destinationOf, scopeGroups } from './consent-view.ts';
import { csrfToken } from './csrf.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Members } from './members.ts';
import { consentPage } from './pages/consent.ts';
import { redirect, sendPage } from './pages/layout.ts';
import { loginPage } from './pages/login.ts';
import { mustSignIn, type SignInWishes, type Step } from './sign-in-wishes.ts';

export interface InteractionOptions {
  readonly provider: Provider;
  readonly connector: LoginConnector;
  readonly members: Members;
  readonly indicators: ResourceIndicators;
  readonly origin: string;
  readonly school: string;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  readonly csrfKey: Buffer;
  readonly clock: Clock;
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
  const { provider, connector, members, origin, school } = options;

  const step = async (exchange: Exchange, step: Step): Promise<void> => {
    const { request, response } = exchange;
    const interaction = await find(provider, exchange);
    const member = await connector.identify(request.headers);
    const wishes = wishesOf(interaction);
    if (member === undefined || mustSignIn(wishes, member, step, unixSeconds(options.clock))) {
      if (step === 'first-visit') return redirect(response, signInUrl(interaction));
      const csrf = csrfToken(options.csrfKey, interaction.uid, member?.sub ?? '');
      const cancel = { action: `${ENDPOINTS.interaction}/${interaction.uid}`, csrf };
      return sendPage(response, 200, loginPage({ school, signIn: signInUrl(interaction), cancel }));
    }
    if (interaction.prompt.name === 'consent' && interaction.session?.accountId === member.sub) {
      return showConsent(response, interaction, member);
    }
    await logIn(request, response, interaction, member);
  };

  const signInUrl = (interaction: Interaction): string => {
    const loginHint = interaction.params.login_hint;
    const returnTo = new URL(`${ENDPOINTS.interaction}/${interaction.uid}/return`, origin);
    return connector.signInUrl(returnTo, { loginHint: typeof loginHint === 'string' ? loginHint : undefined }).href;
  };

  /** Finishes the login step; a session of another member is ended first, so that nobody continues as somebody else. */
  const logIn = async (
    request: IncomingMessage,
    response: ServerResponse,
    interaction: Interaction,
    member: Member,
  ): Promise<void> => {
    const held = interaction.session;
    if (held !== undefined && held.accountId !== member.sub) {
      await (await provider.Session.findByUid(held.uid))?.destroy();
      delete (interaction as { session?: unknown }).session;
      await interaction.save(interaction.exp - unixSeconds(options.clock));
    }
    await members.save(member);
    redirect(
      response,
      await provider.interactionResult(request, response, {
        login: {
          accountId: member.sub,
          remember: false,
          ...(member.authTime === undefined ? {} : { ts: member.authTime }),
          ...(member.acr === undefined ? {} : { acr: member.acr }),
        },
      }),
    );
  };

  const showConsent = async (
    response: ServerResponse,
    interaction: Interaction,
    member: Member,
    problem?: string,
  ): Promise<void> => {
    const client = await provider.Client.find(String(interaction.params.client_id));
    if (client === undefined)
      throw new GatewayError('invalid_request', { message: 'This app is no longer registered here.' });
    const requested = parseScope(String(interaction.params.scope ?? '')) ?? new Set();
    const path = `${ENDPOINTS.interaction}/${interaction.uid}`;
    sendPage(
      response,
      problem === undefined ? 200 : 400,
      consentPage({
        school,
        clientName: client.clientName ?? 'An app without a name',
        destination: destinationOf(String(interaction.params.redirect_uri)),
        account: member.email ?? member.name ?? member.sub,
        groups: scopeGroups(requested, options.scopes),
        action: path,
        switchAccount: `${path}/switch`,
        csrf: csrfToken(options.csrfKey, interaction.uid, member.sub),
        ...(problem === undefined ? {} : { problem }),
      }),
    );
  };

  return {
    start: (exchange) => step(exchange, 'first-visit'),
    returned: (exchange) => step(exchange, 'back-from-sign-in'),

    async switchAccount(exchange) {
      const interaction = await find(provider, exchange);
      redirect(exchange.response, signInUrl(interaction));
    },

    async decide(exchange) {
      const { request, response } = exchange;
      refuseCrossSite(request, origin);
      const interaction = await find(provider, exchange);
      const form = new URLSearchParams((await readBody(request, BODY_LIMIT)).toString('utf8'));
      const member = await connector.identify(request.headers);
      if (!matches(form.get('csrf') ?? '', csrfToken(options.csrfKey, interaction.uid, member?.sub ?? ''))) {
        // Another member may have signed in since the page was shown: they are asked, not answered for.
        return redirect(response, `${ENDPOINTS.interaction}/${interaction.uid}`);
      }
      if (form.get('decision') === 'deny') {
        const result = { error: 'access_denied', error_description: 'the member did not approve' };
        const next = await provider.interactionResult(request, response, result, { mergeWithLastSubmission: false });
        return redirect(response, next);
      }
      if (form.get('decision') !== 'approve' || member === undefined || interaction.session?.accountId !== member.sub) {
        return redirect(response, `${ENDPOINTS.interaction}/${interaction.uid}`);
      }
      const requested = [...(parseScope(String(interaction.params.scope ?? '')) ?? [])];
      const ticked = new Set(form.getAll('scope'));
      // `openid` says only who, which the member tells by approving at all: it has no box.
      const granted = requested.filter((token) => token === 'openid' || ticked.has(token));
      if (granted.length === 0)
        return showConsent(response, interaction, member, 'Tick at least one thing, or cancel.');
      const grant = new provider.Grant({ accountId: member.sub, clientId: String(interaction.params.client_id) });
      grant.addOIDCScope(granted.join(' '));
      grant.addResourceScope(options.indicators.audience, granted.join(' '));
      // Left out, an unticked scope would be asked for again, without end.
      const rejected = requested.filter((token) => !granted.includes(token)).join(' ');
      if (rejected !== '') {
        grant.rejectOIDCScope(rejected);
        grant.rejectResourceScope(options.indicators.audience, rejected);
      }
      const result = { consent: { grantId: await grant.save() } };
      redirect(response, await provider.interactionResult(request, response, result));
    },
  };
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
  throw new GatewayError('invalid_request', {
    message:
      'This request to connect an app has expired, was answered already, or was begun in another browser. Go back to the app and start again.',
  });
}

/**
 * The consent form is ours alone to post (login and consent CSRF). Browsers say where a form came from: Sec-Fetch-Site
 * first, because the pages' referrer policy makes Origin "null" even at home.
 */
function refuseCrossSite(request: IncomingMessage, origin: string): void {
  const site = request.headers['sec-fetch-site'];
  const from = request.headers.origin;
  const ours = site !== undefined ? site === 'same-origin' : from === undefined || from === origin;
  if (!ours) {
    throw new GatewayError('forbidden', {
      message: 'This form was sent from another site. Go back to the app and start again.',
    });
  }
}

function matches(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
