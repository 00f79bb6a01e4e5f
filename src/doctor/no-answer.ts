import { NoAnswer } from './unavailable.ts';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut while the request was sent',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  HPE_HEADER_OVERFLOW: 'the header of the answer is too long to be read',
};

/** What kept an exchange from its end, in words. */
export function noAnswer(thrown: unknown): NoAnswer {
  const { code, message } = Object(thrown) as { code?: unknown; message?: unknown };
  const name = String(code ?? '');
  const words =
    WORDS[name] ??
    (name.startsWith('HPE_')
      ? `the answer is not HTTP (${name})`
      : /CERT|SSL|TLS|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(name)
        ? `the certificate is not trusted (${name})`
        : String(message ?? thrown));
  return new NoAnswer(words, { cause: thrown });
}
