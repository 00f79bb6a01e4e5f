import { DPOP_ALGORITHMS } from '../oauth/dpop.ts';

/** Protected resource metadata (RFC 9728 §2), of what is mounted. In: resource, issuer, published scopes, the name. */
export function protectedResourceMetadata(options: {
  readonly resource: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly name: string;
  /** Where developers and agents read how to get in. */
  readonly documentation: string;
}): Record<string, unknown> {
  return {
    resource: options.resource,
    authorization_servers: [options.issuer],
    // RFC 9728 §3.2: a list of nothing is left out.
    ...(options.scopes.length === 0 ? {} : { scopes_supported: options.scopes }),
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    resource_name: options.name,
    resource_documentation: options.documentation,
  };
}
