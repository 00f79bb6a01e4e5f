import * as oauth from 'oauth4webapi';
import { ConnectError } from './connect-error.ts';
import { printable } from './printable.ts';

/** What a person can do about an OAuth error code (RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 8707 §2). */
const ADVICE: Readonly<Record<string, string>> = {
  access_denied: 'Nothing was connected. Start again and approve if that was not meant.',
  insufficient_scope: 'Connect again and ask for the scope the answer names.',
  invalid_client: 'The registration is not known any more, or its secret is wrong: start again to register anew.',
  invalid_client_metadata: 'The server does not register a client like this one: see its registration settings.',
  invalid_grant: 'The code or token was used before, has expired or was revoked: start again.',
  invalid_redirect_uri: 'The server does not allow a loopback redirect: see its registration settings.',
  invalid_scope: 'Ask only for scopes that the metadata lists under scopes_supported.',
  invalid_target: 'The resource parameter must be the value the protected-resource metadata advertises.',
  invalid_token: 'The token has expired, was revoked, or is meant for another site: connect again.',
  login_required: 'Sign in to the site first, then start again.',
  server_error: 'The server failed on its side: look at its log.',
  temporarily_unavailable: 'The server is not ready for work: wait a little and start again.',
};
const START_AGAIN = 'Start again; if it stays, look at the log of the server.';

const NETWORK: Readonly<Record<string, [string, string]>> = {
  ECONNREFUSED: ['nothing listens there', 'Start the server, or check the address and the port.'],
  ENOTFOUND: ['the name is not known', 'Check the spelling of the address.'],
  EAI_AGAIN: ['the name could not be looked up', 'Check the network of this machine.'],
  ECONNRESET: ['the connection was cut', START_AGAIN],
  UND_ERR_SOCKET: ['the connection was cut', START_AGAIN],
};

/**
 * Turns whatever was thrown into a sentence for a person. In: the thrown value, and what was being done as a noun
 * phrase ("Registering the client"). Out: a ConnectError, unchanged if it was one.
 */
export function explain(thrown: unknown, doing: string): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const [what, advice] = reason(thrown);
  return new ConnectError(`${doing} failed: ${printable(what)}.`, advice, thrown);
}

function reason(thrown: unknown): [what: string, advice: string] {
  if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError) {
    return said(thrown.error, thrown.error_description);
  }
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const { error, error_description } = thrown.cause[0]?.parameters ?? {};
    return error === undefined
      ? [`the server answered ${thrown.status} and wants a token`, 'Connect again to get a fresh token.']
      : said(error, error_description);
  }
  if (thrown instanceof oauth.OperationProcessingError) return processing(thrown);
  if (!(thrown instanceof Error)) return ['something unexpected happened', START_AGAIN];
  if (thrown.name === 'TimeoutError') return ['no answer came in time', 'Check that the server is up and reachable.'];
  if (thrown.name === 'AbortError') return ['it was stopped', 'Start again when you are ready.'];
  if (thrown.message === 'fetch failed') return network(thrown.cause);
  return [thrown.message, START_AGAIN];
}

function said(error: string, description: string | undefined): [string, string] {
  const text = description === undefined || description === '' ? error : `${error} (${description.replace(/\.$/, '')})`;
  return [`the server answered ${text}`, ADVICE[error] ?? START_AGAIN];
}

/** The answer came, but a check of the library found it wrong. */
function processing(thrown: oauth.OperationProcessingError): [string, string] {
  const { cause } = thrown;
  if (cause instanceof Response) {
    return [
      `${cause.url} answered ${cause.status}${cause.ok ? ', but not with what the standard asks for' : ''}`,
      'Check that this is the address of a site behind coursegate.',
    ];
  }
  const { expected, body, attribute } = Object(cause) as { expected?: unknown; body?: unknown; attribute?: unknown };
  if (typeof attribute === 'string' && expected !== undefined) {
    const found = (Object(body) as Record<string, unknown>)[attribute];
    return [
      `the answer names ${JSON.stringify(found)} as its ${attribute}, where ${JSON.stringify(expected)} was asked`,
      'Use the exact address the site is configured with (its origin), or correct the origin in its configuration.',
    ];
  }
  if (typeof attribute === 'string') {
    return [`the metadata has no usable "${attribute}"`, 'The site does not offer this step: see its configuration.'];
  }
  return [thrown.message, START_AGAIN];
}

function network(cause: unknown): [string, string] {
  const code = String((Object(cause) as { code?: unknown }).code ?? '');
  const known = NETWORK[code];
  if (known !== undefined) return known;
  if (/CERT|SSL|TLS|SELF_SIGNED|ALTNAME/.test(code)) {
    return [
      `the certificate is not trusted (${code})`,
      'Correct the certificate, or set NODE_EXTRA_CA_CERTS for your own authority.',
    ];
  }
  return [
    code === '' ? 'the server cannot be reached' : `the server cannot be reached (${code})`,
    'Check the address and the network.',
  ];
}
