import { type Configuration, errors } from 'oidc-provider';
import type { ResourceIndicators } from '../../oauth/resource-indicator.ts';
import { formatScope } from '../../oauth/scope.ts';

export interface ResourceRule {
  readonly indicators: ResourceIndicators;
  /** Whether a client must name the resource at authorization and again at the token endpoint. */
  readonly required: boolean;
  /** The scopes that a token for an audience may carry. */
  readonly scopesOf: (audience: string) => readonly string[];
  /** Seconds an access token lives. */
  readonly accessTokenTtl: number;
}

type ResourceIndicatorsFeature = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

/**
 * RFC 8707: which resource a token is bound to. Spellings were normalised before oidc-provider saw them, so each
 * resource has one value here. Foreign, several and (where required) missing resources are `invalid_target` with a text
 * that names the right one; at the token endpoint the unit of work makes that cost nothing.
 */
export function resourceRule(rule: ResourceRule): ResourceIndicatorsFeature {
  const { audience, audiences } = rule.indicators;
  const missing = () => new errors.InvalidTarget(`the resource parameter is required here: send resource=${audience}`);

  return {
    enabled: true,
    defaultResource(_ctx, _client, oneOf) {
      if (oneOf !== undefined)
        throw new errors.InvalidTarget('a token is bound to one resource: send one of those you asked for');
      if (rule.required) throw missing();
      return audience;
    },
    useGrantedResource() {
      if (rule.required) throw missing();
      return true;
    },
    getResourceServerInfo(_ctx, identifier) {
      if (!audiences.includes(identifier)) throw new errors.InvalidTarget(foreignResource(rule.indicators));
      return {
        scope: formatScope(rule.scopesOf(identifier)),
        audience: identifier,
        accessTokenFormat: 'opaque',
        accessTokenTTL: rule.accessTokenTtl,
      };
    },
  };
}

/** What a client is told that named a resource which is not ours. */
export function foreignResource({ audience, audiences }: ResourceIndicators): string {
  return audiences.length === 1
    ? `this server issues tokens for one resource: send resource=${audience}`
    : `this server issues no tokens for that resource: send resource=${audience}, or one of ${audiences.slice(1).join(', ')}`;
}
