import { currentRequest } from '../../http/current-request.ts';
import type { Introspect } from '../../oauth/introspection.ts';

/**
 * Wraps introspection to note tokens that are presented. Wrap it below the cache, so that this does not run on every
 * request. Requests that are another step of connecting an app only ask about tokens.
 */
export function notedUse(ask: Introspect): Introspect {
  return async (token) => {
    const answer = await ask(token);
    const record = currentRequest()?.inFlight?.record;
    if (!answer.active || record === undefined || record.steps !== undefined) return answer;
    const { clientId, grantId, sub: member } = answer;
    record.noteStep('use', { clientId, grantId, member });
    return answer;
  };
}
