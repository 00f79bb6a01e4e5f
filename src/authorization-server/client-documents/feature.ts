import type Provider from 'oidc-provider';
import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { ClientBlocks } from '../administration/client-blocks.ts';
import { judgeClientMetadata } from '../rules/client-metadata.ts';
import type { RedirectPolicy } from '../rules/redirect-uri.ts';
import type { ClientDocuments } from './client-documents.ts';
import { DocumentFailure } from './failure.ts';

type Feature = NonNullable<NonNullable<Configuration['features']>['clientIdMetadataDocument']>;

/** Routes that begin an authorization: what they take must be the document of now. */
const BEGINNINGS = new Set(['authorization', 'pushed_authorization_request']);

const CANNOT_BE_USED =
  'this client_id is a URL whose client metadata document cannot be used: it must be JSON of at most 5 KiB at a public https URL with a path, without port, query or fragment, be answered at once and without a redirect, and name this very URL as its client_id';

const TRY_AGAIN = 'the client metadata document of this client_id cannot be fetched right now';

/** Seconds: as long as a failed fetch is remembered. */
const RETRY_AFTER = '60';

/**
 * Client ID Metadata Documents as oidc-provider takes them. It asks `allowFetch` before each use, since its own cache is
 * switched off (one hundred entries, in this process, forgotten while their host is down), and then `fetch` for a
 * document that is already here. So `allowFetch` finds or refuses, with an error of ours; a refusal in `fetch` would
 * lose its reason.
 */
export function documentFeature(documents: ClientDocuments | undefined, blocks: Pick<ClientBlocks, 'since'>): Feature {
  if (documents === undefined) return { enabled: false };
  return {
    enabled: true,
    ack: 'draft-02',
    cacheDuration: { min: 0, max: 0 },
    async allowFetch(ctx: KoaContextWithOIDC | undefined, clientId) {
      const route = ctx?.oidc?.route;
      try {
        if ((await blocks.since(clientId)) !== undefined) throw new DocumentFailure('forbidden', 'is disabled here');
        if (route === undefined) await documents.known(clientId);
        else if (BEGINNINGS.has(route)) await documents.current(clientId);
        else if (route === 'token') await documents.approved(clientId);
        else await documents.known(clientId);
      } catch (thrown) {
        if (!(thrown instanceof DocumentFailure)) throw thrown;
        const error = protocolError(thrown, route === undefined || BEGINNINGS.has(route));
        if (error.status === 503) ctx?.set('retry-after', RETRY_AFTER);
        throw error;
      }
      return true;
    },
  };
}

/** The library's one way out to the network: it leads to the documents that are here, and nowhere else. */
export function documentFetch(documents: ClientDocuments | undefined): NonNullable<Configuration['fetch']> {
  return async (input) => {
    if (documents === undefined) throw new DocumentFailure('forbidden', 'nothing is fetched for clients');
    const metadata = await documents.metadata(String(input));
    return new Response(metadata, { headers: { 'content-type': 'application/json' } });
  };
}

/** Judges metadata as a registration is judged: by our rules and by the library's. Throws its InvalidClientMetadata. */
export function judgeClient(provider: Provider, metadata: Record<string, unknown>, redirects: RedirectPolicy): void {
  const problem = judgeClientMetadata(metadata, redirects);
  if (problem !== undefined) throw new errors.InvalidClientMetadata(problem.description);
  Reflect.construct(provider.Client, [metadata, undefined, { cimd: true }]);
}

/**
 * One text and one status for whatever came of the URL, so that nobody learns from us what stands at an address. At the
 * token endpoint an unknown client is 401 (RFC 6749 §5.2), on which clients register anew; one that was good and is only
 * out of reach is 503, so that its client keeps what it has and comes again.
 */
function protocolError(failure: DocumentFailure, beginning: boolean): errors.OIDCProviderError {
  if (failure.kind === 'refused') return new errors.InvalidClientMetadata(failure.message);
  const later = failure.kind === 'busy' || failure.kind === 'overdue';
  const error = later
    ? new errors.OIDCProviderError(503, 'temporarily_unavailable')
    : new errors.OIDCProviderError(beginning ? 400 : 401, 'invalid_client');
  error.expose = true;
  error.error_description = later ? TRY_AGAIN : CANNOT_BE_USED;
  error.error_detail = failure.message;
  return error;
}
