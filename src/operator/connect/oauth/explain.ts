import * as oauth from 'oauth4webapi';
import { type ConnectEnd, ConnectError, NoResponse } from '../connect-error.ts';
import { NETWORK_ERRORS, networkError } from '../network-error.ts';
import { printable } from '../printable.ts';
import advice from './advice.json' with { type: 'json' };

/**
 * What to do about an OAuth error code (RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1, RFC 7591 section
 * 3.2.2, RFC 8707 section 2).
 */
const ADVICE: Readonly<Record<string, string>> = advice;
const START_AGAIN = 'Start again. If the problem persists, check the server log.';

/**
 * Converts anything thrown into a ConnectError for the operator. `doing` is a noun phrase such as "Registering the
 * client". A ConnectError is returned unchanged.
 */
export function explain(thrown: unknown, doing: string): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const end = endOf(thrown);
  if (end === 'interrupted') return new ConnectError('Cancelled. Nothing stays connected.', '', { end, cause: thrown });
  const [what, advice] = reason(thrown);
  if (end === 'declined')
    return new ConnectError(`Cancelled: ${printable(what)}. Nothing was connected.`, advice, { end, cause: thrown });
  return new ConnectError(`${doing} failed: ${printable(what)}.`, advice, { end, cause: thrown });
}

function endOf(thrown: unknown): ConnectEnd {
  if (thrown instanceof oauth.AuthorizationResponseError && thrown.error === 'access_denied') return 'declined';
  if (!(thrown instanceof Error)) return 'failed';
  if (thrown.name === 'AbortError') return 'interrupted';
  return thrown.name === 'TimeoutError' || thrown instanceof NoResponse ? 'unreachable' : 'failed';
}

function reason(thrown: unknown): [what: string, advice: string] {
  if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError)
    return oauthError(thrown.error, thrown.error_description);
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const { error, error_description } = thrown.cause[0]?.parameters ?? {};
    return error === undefined
      ? [`the server answered ${thrown.status} and requires a token`, 'Connect again to get a fresh token.']
      : oauthError(error, error_description);
  }
  if (thrown instanceof oauth.OperationProcessingError) return processing(thrown);
  if (!(thrown instanceof Error)) return ['something unexpected happened', START_AGAIN];
  if (thrown.name === 'TimeoutError')
    return ['the server did not answer in time', 'Check that the server is running and reachable.'];
  if (thrown instanceof NoResponse) return network(thrown.cause);
  return [thrown.message, START_AGAIN];
}

function oauthError(error: string, description: string | undefined): [string, string] {
  const text = description === undefined || description === '' ? error : `${error} (${description.replace(/\.$/, '')})`;
  return [`the server answered ${text}`, ADVICE[error] ?? START_AGAIN];
}

/** A response arrived, but oauth4webapi rejected it. */
function processing(thrown: oauth.OperationProcessingError): [string, string] {
  const { cause } = thrown;
  if (cause instanceof Response)
    return [
      `${cause.url} answered ${cause.status}${cause.ok ? ', but the response is not what the standard requires' : ''}`,
      'Check that this is the address of a site behind coursegate.',
    ];
  const { expected, body, attribute } = Object(cause) as { expected?: unknown; body?: unknown; attribute?: unknown };
  if (typeof attribute === 'string' && expected !== undefined) {
    const found = (Object(body) as Record<string, unknown>)[attribute];
    return [
      `the response has ${JSON.stringify(found)} as its ${attribute} instead of ${JSON.stringify(expected)}`,
      'Use the exact address the site is configured with (its origin), or correct the origin in its configuration.',
    ];
  }
  if (typeof attribute === 'string')
    return [
      `the metadata has no usable "${attribute}"`,
      'The site does not support this step: check its configuration.',
    ];
  return [thrown.message, START_AGAIN];
}

function network(cause: unknown): [string, string] {
  const code = String((Object(cause) as { code?: unknown }).code ?? '');
  const what = networkError(cause) ?? `the server cannot be reached${code === '' ? '' : ` (${code})`}`;
  const advice = what.startsWith('the certificate')
    ? 'Fix the certificate, or set NODE_EXTRA_CA_CERTS to your own certificate authority.'
    : 'Check the address and the network.';
  return [what, NETWORK_ERRORS[code]?.advice ?? advice];
}
