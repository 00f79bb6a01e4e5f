import { type Configuration, errors } from 'oidc-provider';
import type { ResourceIndicators } from '../../oauth/resource-indicator.ts';
import { formatScope } from '../../oauth/scope.ts';
import type { RoleScopes } from '../../roles/role-scopes.ts';
import { scopesWithRole } from './lost-scopes.ts';

export interface ResourceRule {
  readonly indicators: ResourceIndicators;
  /** Whether a client must name the resource, both at authorization and when it exchanges the code. */
  readonly required: boolean;
  /** The scopes that a token for an audience may have. */
  readonly scopesOf: (audience: string) => readonly string[];
  readonly roleScopes: Pick<RoleScopes, 'held'>;
  /** Lifetime of an access token in seconds. */
  readonly accessTokenTtl: number;
}

type ResourceIndicatorsFeature = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

/**
 * Binds tokens to a resource (RFC 8707). Spellings are normalised before oidc-provider reads a request, so each
 * resource has one value here. A foreign resource, several resources, or a missing one where it is required, is
 * `invalid_target` with a message that names the right one. At the token endpoint, the unit of work makes sure that
 * such an error does not use up the code or refresh token.
 */
export function resourceRule(rule: ResourceRule): ResourceIndicatorsFeature {
  const { audience, audiences } = rule.indicators;
  const missing = () => new errors.InvalidTarget(`the resource parameter is required here: send resource=${audience}`);

  return {
    enabled: true,
    defaultResource(_ctx, _client, oneOf) {
      if (oneOf !== undefined)
        throw new errors.InvalidTarget(`a token is for one resource: send resource=${oneOf.join(' or resource=')}`);
      if (rule.required) throw missing();
      return audience;
    },
    // A refresh token is already bound, and many clients send no resource with it.
    useGrantedResource(_ctx, { kind }) {
      if (rule.required && kind !== 'RefreshToken') throw missing();
      return true;
    },
    async getResourceServerInfo(ctx, identifier) {
      if (!audiences.includes(identifier)) throw new errors.InvalidTarget(foreignResource(rule.indicators));
      return {
        scope: formatScope(await scopesWithRole(ctx, rule.scopesOf(identifier), rule.roleScopes)),
        audience: identifier,
        accessTokenFormat: 'opaque',
        accessTokenTTL: rule.accessTokenTtl,
      };
    },
  };
}

/** The error message for a resource that is not ours. */
export function foreignResource({ audience, audiences }: ResourceIndicators): string {
  return audiences.length === 1
    ? `this server issues tokens for one resource: send resource=${audience}`
    : `this server issues no tokens for that resource: send resource=${audience}, or one of ${audiences.slice(1).join(', ')}`;
}
