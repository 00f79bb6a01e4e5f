import type Provider from 'oidc-provider';
import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { noteStep } from '../../http/note-step.ts';
import type { Suspensions } from '../administration/suspensions.ts';
import { NO_NEW_APPS } from '../registration/registration.ts';
import { clientMetadataProblem } from '../rules/client-metadata.ts';
import type { RedirectPolicy } from '../rules/redirect-uri.ts';
import type { ClientDocuments } from './client-documents.ts';
import { DocumentFailure } from './failure.ts';

type Feature = NonNullable<NonNullable<Configuration['features']>['clientIdMetadataDocument']>;

/** Routes that begin an authorization. They need the current document. */
const BEGINNINGS = new Set(['authorization', 'pushed_authorization_request']);

const TRY_AGAIN = 'the client metadata document of this client_id cannot be fetched right now';

/** In seconds: as long as a failed fetch is remembered. */
const RETRY_AFTER = '60';

/**
 * Client ID Metadata Documents as an oidc-provider feature. The library calls `allowFetch` before each use, because its
 * own cache is disabled (one hundred entries, per process, dropped while the document's host is down), and then `fetch`
 * for a document that we already have. So `allowFetch` finds the document or throws our error; an error thrown in
 * `fetch` would lose its reason.
 */
export function documentFeature(documents: ClientDocuments | undefined, blocks: Pick<Suspensions, 'since'>): Feature {
  if (documents === undefined) return { enabled: false };
  return {
    enabled: true,
    ack: 'draft-02',
    cacheDuration: { min: 0, max: 0 },
    async allowFetch(ctx: KoaContextWithOIDC | undefined, clientId) {
      const route = ctx?.oidc?.route;
      try {
        if ((await blocks.since(clientId)) !== undefined) throw new DocumentFailure('forbidden', 'is disabled here');
        if (BEGINNINGS.has(route ?? '')) await documents.current(clientId);
        else if (route === 'token') await documents.approved(clientId);
        else await documents.known(clientId);
        if (BEGINNINGS.has(route ?? '')) noteStep('client-document', { clientId });
      } catch (thrown) {
        if (!(thrown instanceof DocumentFailure)) throw thrown;
        const error = protocolError(thrown, route === undefined || BEGINNINGS.has(route));
        noteStep('client-document', {
          ...{ clientId, error: error.error, description: error.error_description },
          detail: `${thrown.kind}: ${thrown.message}`,
        });
        if (error.status === 503) ctx?.set('retry-after', RETRY_AFTER);
        throw error;
      }
      return true;
    },
  };
}

/** The library's only network access. It returns documents that we already have, and fetches nothing. */
export function documentFetch(documents: ClientDocuments | undefined): NonNullable<Configuration['fetch']> {
  return async (input) => {
    if (documents === undefined) throw new DocumentFailure('forbidden', 'nothing is fetched for clients');
    return new Response(await documents.metadata(String(input)));
  };
}

/**
 * Checks metadata by the rules for registrations, ours and the library's. Throws the library's InvalidClientMetadata.
 */
export function validateClient(provider: Provider, metadata: Record<string, unknown>, redirects: RedirectPolicy): void {
  const problem = clientMetadataProblem(metadata, redirects);
  if (problem !== undefined) throw new errors.InvalidClientMetadata(problem.description);
  Reflect.construct(provider.Client, [metadata, undefined, { cimd: true }]);
}

/**
 * Tells the app what is wrong with its document. At the token endpoint, an unknown client gets a 401 (RFC 6749 section
 * 5.2). A client that was good and is only unreachable gets a 503, so that it keeps its tokens and retries.
 */
function protocolError(failure: DocumentFailure, beginning: boolean): errors.OIDCProviderError {
  const later = failure.kind === 'busy' || failure.kind === 'overdue';
  const description = describe(failure);
  const error =
    failure.kind === 'closed'
      ? new errors.OIDCProviderError(403, 'access_denied')
      : failure.kind === 'refused' || (beginning && !later)
        ? new errors.InvalidClientMetadata(description)
        : new errors.OIDCProviderError(later ? 503 : 401, later ? 'temporarily_unavailable' : 'invalid_client');
  return Object.assign(error, { expose: true, error_description: description, error_detail: failure.message });
}

function describe({ kind, message }: DocumentFailure): string {
  switch (kind) {
    case 'refused':
      return message;
    case 'busy':
      return TRY_AGAIN;
    case 'closed':
      return NO_NEW_APPS;
    case 'forbidden':
      return `this client_id cannot be used as the URL of a client metadata document: it ${message}`;
    default:
      return `the client metadata document at this client_id ${message}`;
  }
}
