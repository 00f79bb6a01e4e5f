import type Provider from 'oidc-provider';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';
import { GatewayError } from '../errors.ts';
import { currentRequest } from '../http/current-request.ts';
import { explainStep, noteStep } from '../http/note-step.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import type { Audit, AuditAction } from '../operations/audit.ts';
import { clientHost } from './client-host.ts';
import { ENDPOINTS } from './endpoints.ts';
import { described } from './rules/error-description.ts';
import { foreignResource } from './rules/resource.ts';

export interface ProviderEventsOptions {
  readonly indicators: ResourceIndicators;
  readonly audit: Audit;
  /** Called with the grant of each active access token that a client or service introspects. */
  readonly introspected: (grantId: string, clientId: string) => void;
}

type Context = KoaContextWithOIDC;

/** Audits what clients achieve, and notes in the current request how oidc-provider answers it. */
export function reportEvents(provider: Provider, options: ProviderEventsOptions): void {
  provider.on('server_error', (_ctx, error) => {
    if (error instanceof GatewayError) note({ failure: error });
  });
  provider.on('authorization.error', (_ctx, { error }) => note({ oauthError: error }));
  for (const event of REFUSALS) provider.on(event as 'grant.error', explainRefusal);
  provider.on('registration_create.success', (_ctx, { clientId }) => explainStep({ clientId }));
  provider.on('interaction.started', ({ oidc }) => explainStep(interactionOf(oidc)));
  provider.on('authorization.success', ({ oidc }) => noteStep('code', grantFacts(oidc)));
  provider.on('grant.success', ({ oidc }) => explainStep(grantFacts(oidc)));
  provider.on('grant.revoked', (_ctx, grantId) => explainStep({ grantId }));
  provider.on('registration_create.success', auditClient(options, 'client_registered'));
  provider.on('registration_update.success', auditClient(options, 'client_updated'));
  provider.on('registration_delete.success', auditClient(options, 'client_deleted'));
  provider.on('authorization.success', (ctx) => auditCode(options, ctx));

  provider.use(async (ctx, next) => {
    try {
      await next();
      amendAnswer(options, ctx as unknown as Context);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      note({ failure: thrown });
    }
    // When the store is unavailable, our 503 must not become the library's 500.
    if (currentRequest()?.failure !== undefined) ctx.respond = false;
  });
}

function note(outcome: { failure: GatewayError } | { oauthError: string }): void {
  Object.assign(currentRequest() ?? {}, outcome);
}

/** Events of refusals, each with the error as its second argument. */
const REFUSALS = [
  'authorization.error',
  'grant.error',
  'pushed_authorization_request.error',
  'registration_create.error',
  'revocation.error',
] as const;

/** Tells the connection recorder why; the answer may say less. */
function explainRefusal({ oidc }: Context, error: errors.OIDCProviderError): void {
  const { error_description: description } = described({
    error: error.error,
    error_description: error.error_description,
  });
  explainStep({ error: error.error, description, detail: error.error_detail, ...grantFacts(oidc) });
}

function grantFacts(oidc: Context['oidc']) {
  const { AuthorizationCode: code, RefreshToken: token, Interaction: interaction } = oidc.entities;
  const grant = code ?? token;
  return {
    clientId: oidc.client?.clientId,
    clientName: oidc.client?.clientName,
    grantId: grant?.grantId,
    member: grant?.accountId,
    ...(interaction === undefined ? {} : interactionOf(oidc)),
  };
}

function interactionOf({ entities, client }: Context['oidc']) {
  const { cid, uid } = entities.Interaction ?? {};
  return { interaction: cid, page: uid, clientName: client?.clientName };
}

function auditClient({ audit }: ProviderEventsOptions, action: AuditAction) {
  return (_ctx: Context, client: InstanceType<Provider['Client']>) => {
    const { clientId, clientName, redirectUris } = client;
    const host = clientHost(redirectUris?.[0]);
    audit({ action, clientId, clientName, clientHost: host, grantId: undefined, member: undefined });
  };
}

function auditCode({ audit }: ProviderEventsOptions, { oidc: { client, entities, params } }: Context): void {
  const code = entities.AuthorizationCode;
  if (code === undefined) return;
  audit({
    action: 'code_issued',
    clientId: client?.clientId,
    clientName: client?.clientName,
    clientHost: clientHost(String(params?.redirect_uri)),
    grantId: code.grantId,
    member: code.accountId,
  });
}

function amendAnswer({ indicators, introspected }: ProviderEventsOptions, ctx: Context): void {
  const body = ctx.body as { error?: unknown; error_description?: string; active?: boolean } | undefined;
  if (ctx.status >= 400 && typeof body?.error === 'string') {
    note({ oauthError: body.error });
    ctx.body = described(body);
  }
  // The library's message for an unknown resource does not say which one is accepted.
  if (ctx.path === ENDPOINTS.token && body?.error === 'invalid_target') {
    const isNamed = body.error_description?.includes('resource=');
    if (!isNamed) ctx.body = { ...body, error_description: foreignResource(indicators) };
  }
  const { error, error_description: description } = (ctx.body ?? {}) as { error?: unknown; error_description?: string };
  if (ctx.status >= 400 && typeof error === 'string') explainStep({ error, description });
  if (ctx.path === ENDPOINTS.introspection && body?.active === true) {
    const { grantId, clientId } = ctx.oidc.entities.AccessToken ?? {};
    if (grantId !== undefined && clientId !== undefined) introspected(grantId, clientId);
  }
}
