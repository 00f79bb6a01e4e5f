import { NoAnswer } from './unavailable.ts';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed while the request was being sent',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  HPE_HEADER_OVERFLOW: 'the header of the response is too long',
};

/** Describes why a request got no response. */
export function noAnswer(thrown: unknown): NoAnswer {
  const { code, message } = Object(thrown) as { code?: unknown; message?: unknown };
  const name = String(code ?? '');
  const words =
    WORDS[name] ??
    (name.startsWith('HPE_')
      ? `the response is not HTTP (${name})`
      : /CERT|SSL|TLS|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(name)
        ? `the certificate is not trusted (${name})`
        : String(message ?? thrown));
  return new NoAnswer(words, { cause: thrown });
}
