import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child' | 'level'>;

/** Names of fields that hold credentials: their values are redacted in every log line. */
const SECRETS = [
  'authorization',
  'cookie',
  'set-cookie',
  'code',
  'code_verifier',
  'access_token',
  'refresh_token',
  'id_token',
  'token',
  'client_secret',
  'registration_access_token',
  'password',
];

/**
 * An error code tells the operator what went wrong, so it is logged if it looks like a name. No authorization code
 * does.
 */
const ERROR_CODE = /^(?:[a-z]+(?:_[a-z]+)*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)$/;
const LONGEST_CODE = 42;

/** pino's error format, with the code as `error_code`, because `code` is redacted. */
function serializeError(error: Error): object {
  const { code } = error as { code?: unknown };
  const isName = typeof code === 'string' && code.length <= LONGEST_CODE && ERROR_CODE.test(code);
  return { ...pino.stdSerializers.err(error), ...(isName ? { error_code: code } : {}) };
}

/** A JSON log with one record per line, written to a file descriptor. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent', descriptor: number): Log {
  const paths = SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
  return pino(
    { level, redact: { paths, censor: '(secret)' }, serializers: { err: serializeError } },
    pino.destination({ dest: descriptor, sync: true }),
  );
}
