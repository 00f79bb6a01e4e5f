import errors from './network-errors.json' with { type: 'json' };

/** What the errors of a connection mean, by their codes, and what to do about some of them. */
export const NETWORK_ERRORS: Readonly<Record<string, { readonly what: string; readonly advice?: string }>> = errors;

/** Why there was no response, in words for the operator; undefined for an error that is not the network's. */
export function networkError(thrown: unknown): string | undefined {
  const { code = '', name, syscall = '' } = Object(thrown) as Readonly<Record<string, unknown>>;
  if (name === 'TimeoutError') return 'the server did not answer in time';
  // Of a query to a name server, which the other codes do not tell from a connection to the host.
  if (/^query/.test(String(syscall)) && code !== 'ENOTFOUND') return `the host name could not be resolved (${code})`;
  const known = NETWORK_ERRORS[String(code)]?.what;
  if (known !== undefined) return known;
  return /CERT|SSL|TLS|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(String(code))
    ? `the certificate is not trusted (${code})`
    : undefined;
}
