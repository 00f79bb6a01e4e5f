const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed while the request was being sent',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  ETIMEDOUT: 'no connection was made in time',
  HPE_HEADER_OVERFLOW: 'the header of the response is too long',
};

/** Why there was no response, in words for the operator; undefined for an error that is not the network's. */
export function networkError(thrown: unknown): string | undefined {
  const { code = '', name, syscall = '' } = Object(thrown) as Readonly<Record<string, unknown>>;
  if (name === 'TimeoutError') return 'the server did not answer in time';
  // Of a query to a name server, which the other codes do not tell from a connection to the host.
  if (/^query/.test(String(syscall)) && code !== 'ENOTFOUND') return `the host name could not be resolved (${code})`;
  const known = WORDS[String(code)];
  if (known !== undefined) return known;
  return /CERT|SSL|TLS|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(String(code))
    ? `the certificate is not trusted (${code})`
    : undefined;
}
