import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child' | 'level'>;

/** Field names that hold credentials wherever they turn up: their values never reach a log line. */
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

/** The code of an error tells the operator what went wrong, and is a name: no authorization code looks like one. */
const ERROR_CODE = /^(?:[a-z]+(?:_[a-z]+)*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)$/;
const LONGEST_CODE = 42;

/** As pino writes an error; its code under a name of its own, since `code` is held back. */
function serializeError(error: Error): object {
  const { code } = error as { code?: unknown };
  const isName = typeof code === 'string' && code.length <= LONGEST_CODE && ERROR_CODE.test(code);
  return { ...pino.stdSerializers.err(error), ...(isName ? { error_code: code } : {}) };
}

/** A JSON log, a line a record. In: the least level to write, and the file descriptor to write to. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent', descriptor: number): Log {
  const paths = SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
  return pino(
    { level, redact: { paths, censor: '(secret)' }, serializers: { err: serializeError } },
    pino.destination({ dest: descriptor, sync: true }),
  );
}
