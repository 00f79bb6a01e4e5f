import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../../errors.ts';
import { inTime } from '../patience.ts';
import { type SqlDialect, type SqlSession, type SqlStatement, sql, type UseSession } from './session.ts';
import { sessionPool } from './session-pool.ts';

/** Tries of work that the server rolled back, or for which the connection was lost before it was to be committed. */
const TRIES = 5;
/** Milliseconds that a commit must have left. One that is sent later could still be done after its caller was refused. */
const MARGIN = 50;

const BEGIN = sql('BEGIN');
const COMMIT = sql('COMMIT');
const ROLLBACK = sql('ROLLBACK');

/** What runs within one transaction. Everything is rolled back unless `commit` was called, as the last step. */
export interface SqlTransaction {
  readonly run: SqlSession['run'];
  /** Runs the last statements and commits. */
  readonly commit: (...last: readonly SqlStatement[]) => Promise<void>;
}

export type SqlDatabase = ReturnType<typeof sqlDatabase>;

/**
 * A database that never makes callers wait for long. What works on it throws GatewayError `store_unavailable`.
 * @param most how many connections may be open
 */
export function sqlDatabase(dialect: SqlDialect, url: string, most: number) {
  let migrated = false;
  const open = async (): Promise<SqlSession> => {
    const session = await dialect.connect(url);
    try {
      if (!migrated) await dialect.migrate(session);
      migrated = true;
      return session;
    } catch (thrown) {
      session.close();
      throw thrown;
    }
  };
  const pool = sessionPool(open, dialect.isCrowded, most);

  type Work<T> = (session: SqlSession, beforeCommit: () => void) => Promise<T>;

  /** Runs work until it is done, fails for good, or there is no time left. */
  const inTurn = <T>(work: Work<T>): Promise<T> =>
    inTime(async (left) => {
      const assertTime = () => {
        if (left() < MARGIN) throw late();
      };
      for (let tries = 1; ; tries += 1) {
        const session = await pool.acquire();
        let committing = false;
        try {
          assertTime();
          return await work(session, () => {
            assertTime();
            committing = true;
          });
        } catch (thrown) {
          const isOurs = thrown instanceof GatewayError;
          const fault = isOurs ? 'again' : dialect.faultOf(thrown);
          if (fault === 'again') await session.run(ROLLBACK).catch(() => session.close());
          else session.close();
          if (fault === 'demoted') pool.reset();
          const isFinal = isOurs || fault === 'failed' || (fault === 'lost' && committing);
          if (isFinal || tries === TRIES || left() < MARGIN) throw thrown;
        } finally {
          pool.release(session);
        }
        await pause(Math.random() * 5 * tries);
      }
    }).catch((thrown) => {
      throw unavailable(thrown);
    });

  return {
    dialect,
    /** Runs work that consists of single statements, each of which may be repeated. */
    use: ((work) => inTurn((session) => work(session))) as UseSession,
    /**
     * Runs work in a transaction. It may run several times, and is done at most once: if the connection is lost while it
     * is committed, the outcome is unknown, and the caller is told that it failed.
     */
    transact: <T>(work: (transaction: SqlTransaction) => Promise<T>): Promise<T> =>
      inTurn(async (session, beforeCommit) => {
        let begun = false;
        let committed = false;
        const run: SqlSession['run'] = async (...statements) => {
          if (begun) return session.run(...statements);
          begun = true;
          return (await session.run(BEGIN, ...statements)).slice(1);
        };
        const commit: SqlTransaction['commit'] = async (...last) => {
          beforeCommit();
          await run(...last, COMMIT);
          committed = true;
        };
        const value = await work({ run, commit });
        if (begun && !committed) await session.run(ROLLBACK);
        return value;
      }),
    /** Closes the connections that are not in use. */
    reset: pool.reset,
    close: pool.close,
  };
}

const late = () => new GatewayError('store_unavailable', { cause: new Error('the store took too long') });

/** Only the database's own message and code: other fields of its error contain values. */
export function unavailable(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const { message, code } = thrown as { readonly message?: string; readonly code?: string };
  const cause = Object.assign(new Error(message || code || String(thrown)), { code });
  return new GatewayError('store_unavailable', { cause });
}
