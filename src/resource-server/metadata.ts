import { DPOP_ALGORITHMS } from '../oauth/dpop.ts';

/** Protected resource metadata (RFC 9728 section 2). */
export function protectedResourceMetadata(options: {
  readonly resource: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly name: string;
  /** URL of the documentation for developers and agents. */
  readonly documentation: string;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
}): Record<string, unknown> {
  return {
    resource: options.resource,
    authorization_servers: [options.issuer],
    // Empty lists are omitted (RFC 9728 section 3.2).
    ...(options.scopes.length === 0 ? {} : { scopes_supported: options.scopes }),
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    resource_name: options.name,
    resource_documentation: options.documentation,
    resource_policy_uri: options.policyUri,
    resource_tos_uri: options.tosUri,
  };
}
