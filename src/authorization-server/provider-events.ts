import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { GatewayError } from '../errors.ts';
import { currentRequest } from '../http/current-request.ts';
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
  readonly introspected: (grantId: string) => void;
}

type Context = KoaContextWithOIDC;

/** Audits what clients achieve, and notes in the current request how oidc-provider answers it. */
export function reportEvents(provider: Provider, options: ProviderEventsOptions): void {
  provider.on('server_error', (_ctx, error) => {
    if (error instanceof GatewayError) note({ failure: error });
  });
  provider.on('authorization.error', (_ctx, { error }) => note({ oauthError: error }));
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
  if (ctx.path === ENDPOINTS.introspection && body?.active === true) {
    const grantId = ctx.oidc.entities.AccessToken?.grantId;
    if (grantId !== undefined) introspected(grantId);
  }
}
