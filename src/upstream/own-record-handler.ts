import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { GatewayError, invalidRequest, renderFailure } from '../errors.ts';
import { setFields, writeAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import type { SessionOver } from '../oauth/challenge.ts';
import { refuseAmbiguousTarget } from './ambiguous.ts';
import { ownBody } from './own-body.ts';
import { ownRecord } from './own-record.ts';
import { parameterNames } from './parameter-name.ts';
import { createRewrite, type Rewrite } from './rewrite.ts';

/**
 * Applies a route's own-record guard and its rewriting before a request is forwarded. A request for another member's
 * record is a 403 whether the record exists or not: the upstream is not asked, so the client learns nothing about it.
 *
 * A name that the route fills in is reserved for the member's id in every place where backends look for parameters:
 * many merge those of the query and the body and let one win. It is therefore removed from both, and set where the
 * route says.
 * @param limit maximum size of a body in bytes
 */
export function ownRecordHandler(
  { match, query = {}, body = {}, rewrite }: RouteConfig,
  limit: number,
  forward: (exchange: Exchange, rewrite: Rewrite | undefined) => Promise<SessionOver | undefined> | undefined,
): (exchange: Exchange) => Promise<SessionOver | undefined> | undefined {
  const { pattern } = parseMatch(match);
  const [inQuery, inBody] = [Object.keys(query), Object.keys(body)];
  const names = inQuery.length + inBody.length > 0 ? parameterNames([...inQuery, ...inBody]) : undefined;
  const ownTarget = ownRecord(pattern, inQuery, names);
  const replace = names === undefined ? undefined : ownBody(names, inBody, limit);
  const rewriteFor = rewrite === undefined ? undefined : createRewrite(pattern, rewrite);
  return (exchange) => {
    const { response, principal, record, provenance } = exchange;
    refuseAmbiguousTarget(exchange.target);
    if (names?.hiddenIn(exchange.target.query) === true)
      throw invalidRequest('A query parameter has another one encoded in its value, which this address fills itself.');
    const target = ownTarget(exchange.target, principal);
    if (target !== undefined) {
      const rewriteHere = rewriteFor?.(principal);
      const own = target === exchange.target ? exchange : { ...exchange, target };
      if (replace === undefined) return forward(own, rewriteHere);
      return replace(exchange).then((replacement) => forward({ ...own, replacement }, rewriteHere));
    }
    record.outcome = 'refused';
    record.reason = 'not_own_record';
    const refusal = new GatewayError('forbidden', { message: 'This address is for the records of another member.' });
    setFields(response, exchange.ownFields);
    writeAnswer(response, renderFailure(refusal, 'problem', provenance.requestId));
    return undefined;
  };
}
