import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { GatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { ownRecord } from './own-record.ts';
import { createRewrite, type Rewrite } from './rewrite.ts';

/**
 * Puts the own-record guard of a route, and its rewriting, before what forwards its requests. A record of somebody
 * else's is 403, whether there is one or not: the upstream is not asked, so that nothing is learned of it.
 */
export function ownRecordHandler(
  { match, query, rewrite }: RouteConfig,
  forward: (exchange: Exchange, rewrite: Rewrite | undefined) => Promise<void>,
): (exchange: Exchange) => Promise<void> {
  const { pattern } = parseMatch(match);
  const judge = ownRecord(pattern, query ?? {});
  const rewriteFor = rewrite === undefined ? undefined : createRewrite(pattern, rewrite);
  return async (exchange) => {
    const { response, principal, record, provenance } = exchange;
    const target = judge(exchange.target, principal);
    if (target !== undefined) return forward({ ...exchange, target }, rewriteFor?.(principal));
    record.outcome = 'refused';
    record.reason = 'not_own_record';
    const refusal = new GatewayError('forbidden', { message: 'This address is for the records of another member.' });
    return writeAnswer(response, renderFailure(refusal, 'problem', provenance.requestId));
  };
}
