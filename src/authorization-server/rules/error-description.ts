/** An OAuth error, in a JSON body or in the parameters of a redirect. */
interface OAuthError {
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/** Errors that oidc-provider sends without a description. */
const BY_ERROR: Readonly<Record<string, string>> = {
  request_not_supported: 'the request parameter is not supported: send each parameter by itself, or push them (PAR)',
  request_uri_not_supported:
    'this request_uri is not supported: only one that the pushed authorization request endpoint returned is',
  registration_not_supported: 'the registration parameter is not supported: use the registration endpoint',
};

const S256 = 'code_challenge is the SHA-256 hash of code_verifier in base64url, and code_challenge_method is S256';

/** Descriptions by oidc-provider that do not say what to send. Each names `code_challenge` and S256. */
const PKCE: Readonly<Record<string, string>> = {
  'Authorization Server policy requires PKCE to be used for this request': `code_challenge is missing: PKCE is required. ${S256}`,
  'code_challenge must be provided with code_challenge_method': `code_challenge is missing: ${S256}`,
  'code_challenge_method must be provided': `code_challenge_method is missing: ${S256}`,
  'not supported value of code_challenge_method': `this code_challenge_method is not supported: ${S256}`,
};
/** The same for their format: the start is kept, the reason added. */
const PKCE_FORMAT = /^code_(?:challenge|verifier) (?:must be a string with a|contains invalid)/;

/** The characters that a description may have (RFC 6749 section 5.2). */
const NOT_ALLOWED = /[^\x20-\x21\x23-\x5B\x5D-\x7E]/g;

/** Returns the error with a description that helps the client's developer, in the characters of RFC 6749. */
export function described<T extends OAuthError>(sent: T): T {
  if (typeof sent.error !== 'string') return sent;
  const own = typeof sent.error_description === 'string' ? sent.error_description : BY_ERROR[sent.error];
  if (own === undefined) return sent;
  const description = PKCE_FORMAT.test(own) ? `${own}: ${S256}` : (PKCE[own] ?? own);
  return {
    ...sent,
    error_description: description.replaceAll('"', "'").replace(NOT_ALLOWED, '?'),
  };
}
