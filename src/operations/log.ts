import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

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

/** A JSON log, a line a record. In: the least level to write, and the file descriptor to write to. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent', descriptor: number): Log {
  const paths = SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
  return pino({ level, redact: { paths, censor: '(secret)' } }, pino.destination({ dest: descriptor, sync: true }));
}
