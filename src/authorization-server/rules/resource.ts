import { type Configuration, errors } from 'oidc-provider';
import type { ResourceIndicators } from '../../oauth/resource-indicator.ts';
import { formatScope } from '../../oauth/scope.ts';

export interface ResourceRule {
  readonly indicators: ResourceIndicators;
  /** Whether a client must name the resource at authorization and again at the token endpoint. */
  readonly required: boolean;
  readonly scopes: readonly string[];
  /** Seconds an access token lives. */
  readonly accessTokenTtl: number;
}

type ResourceIndicatorsFeature = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

/**
 * RFC 8707: which resource a token is bound to. Spellings were normalised before oidc-provider saw them, so here there
 * is one value. Foreign and (where required) missing resources are `invalid_target` with a text that names the right
 * one; at the token endpoint the unit of work makes that cost nothing.
 */
export function resourceRule(rule: ResourceRule): ResourceIndicatorsFeature {
  const { audience } = rule.indicators;
  const missing = () => new errors.InvalidTarget(`the resource parameter is required here: send resource=${audience}`);
  const foreign = () =>
    new errors.InvalidTarget(`this server issues tokens for one resource: send resource=${audience}`);

  return {
    enabled: true,
    defaultResource(_ctx, _client, oneOf) {
      if (oneOf !== undefined) throw foreign();
      if (rule.required) throw missing();
      return audience;
    },
    useGrantedResource() {
      if (rule.required) throw missing();
      return true;
    },
    getResourceServerInfo(_ctx, identifier) {
      if (identifier !== audience) throw foreign();
      return {
        scope: formatScope(rule.scopes),
        audience,
        accessTokenFormat: 'opaque',
        accessTokenTTL: rule.accessTokenTtl,
      };
    },
  };
}
