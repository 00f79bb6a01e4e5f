import type { LoadedConfig } from '../config/load.ts';
import type { RouteConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import { IDENTITY_FIELDS } from '../http/identity-fields.ts';
import { refuseLargeRequest } from '../upstream/body-limit.ts';
import { asksForWebSocket, requestFraming } from '../upstream/framing.ts';
import type { IdentityFor } from '../upstream/identity.ts';
import { methodOverrides } from '../upstream/method-override/method-override.ts';
import { ownRecordHandler } from '../upstream/own-record-handler.ts';
import { DecisionResponse } from './decision-response.ts';

/**
 * The handler of a route whose requests a gateway forwards, in place of forwarding them: lets an admitted request pass,
 * with the identity of its member. Guards that need no body are the same as for forwarded requests.
 */
export function admitHandler(
  entry: RouteConfig,
  { config, asserts = config.origin }: Pick<LoadedConfig, 'config' | 'asserts'>,
  identity: IdentityFor,
): Handler {
  const { upstream } = entry;
  const kinds = config.upstreams[upstream]?.identity ?? [];
  return ownRecordHandler(entry, 0, (exchange) => {
    const { request, response, target, principal, record, ownFields } = exchange;
    if (asksForWebSocket(request))
      throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
    // No body is sent, but some gateways send its Content-Length.
    refuseLargeRequest(requestFraming(request), config.limits.requestBody);
    refuseHiddenMethod(exchange);
    if (!(response instanceof DecisionResponse)) throw new Error('Only a decision can be admitted.');
    record.upstream = upstream;
    const admitted = { method: request.method ?? '', url: asserts + target.path };
    const admit = (fields: Fields): undefined => response.admit(everyField(fields), ownFields);
    const known = identity(principal, upstream, kinds, admitted);
    return known instanceof Promise ? known.then(admit) : admit(known);
  });
}

type Fields = Awaited<ReturnType<IdentityFor>>;

/** The same fields are admitted again and again, until their assertion is renewed. */
const LISTS = new WeakMap<Fields, readonly string[]>();

/** Every identity field, empty if it does not apply: the gateway overwrites what the client sent. */
function everyField(known: Fields): readonly string[] {
  const before = LISTS.get(known);
  if (before !== undefined) return before;
  const list = IDENTITY_FIELDS.flatMap((name) => [name, known[name] ?? '']);
  LISTS.set(known, list);
  return list;
}

/** JSON is left to the backend, which compares its method with the assertion. */
const READ_AS_JSON = /json/i;

/**
 * Refuses a request whose method a backend might take from a parameter (`_method`). The body does not come here, so one
 * of a type in which frameworks look for it is refused; without a type, Rack reads that of a POST as a form.
 */
function refuseHiddenMethod({ request, target, admits }: Exchange): void {
  const types = fieldValues(request.rawHeaders, 'content-type');
  const untyped = types.length === 0 && request.method !== 'POST';
  if (untyped && target.query === '') return;
  const overrides = methodOverrides(admits ?? ((method) => method === request.method));
  overrides.checkQuery(target.query);
  if (untyped) return;
  if (overrides.scan(request.rawHeaders) === undefined || READ_AS_JSON.test(types[0] ?? '')) return;
  throw new GatewayError('unsupported_media_type', {
    message: 'This address takes no forms: send JSON.',
  });
}
