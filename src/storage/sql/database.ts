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

/** A database that never makes callers wait for long. Every method throws GatewayError `store_unavailable`. */
export interface SqlDatabase {
  readonly dialect: SqlDialect;
  /** Runs work that consists of single statements, each of which may be repeated. */
  readonly use: UseSession;
  /**
   * Runs work in a transaction. It may run several times, and is done at most once: if the connection is lost while it
   * is committed, the outcome is unknown, and the caller is told that it failed.
   */
  transact<T>(work: (transaction: SqlTransaction) => Promise<T>): Promise<T>;
  /** Closes the connections that are not in use. */
  reset(): void;
  close(): void;
}

/** @param most how many connections may be open */
export function sqlDatabase(dialect: SqlDialect, url: string, most: number): SqlDatabase {
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

  /** Runs work once. Returns its result, or says why it may be repeated. */
  const attempt = async <T>(work: Work<T>, left: () => number): Promise<{ readonly value: T } | { again: unknown }> => {
    const session = await pool.acquire();
    let committing = false;
    try {
      if (left() < MARGIN) throw late();
      const value = await work(session, () => {
        if (left() < MARGIN) throw late();
        committing = true;
      });
      pool.release(session);
      return { value };
    } catch (thrown) {
      const isOurs = thrown instanceof GatewayError;
      const fault = isOurs ? 'again' : dialect.faultOf(thrown);
      if (fault === 'again') await session.run(ROLLBACK).catch(() => session.close());
      else session.close();
      pool.release(session);
      if (fault === 'demoted') pool.reset();
      if (isOurs || fault === 'failed' || (fault === 'lost' && committing)) throw thrown;
      return { again: thrown };
    }
  };

  const inTurn = async <T>(work: Work<T>): Promise<T> => {
    try {
      return await inTime(async (left) => {
        for (let tries = 1; ; tries += 1) {
          const outcome = await attempt(work, left);
          if ('value' in outcome) return outcome.value;
          if (tries === TRIES || left() < MARGIN) throw outcome.again;
          await pause(Math.random() * 5 * tries);
        }
      });
    } catch (thrown) {
      throw unavailable(thrown);
    }
  };

  return {
    dialect,
    use: (work) => inTurn((session) => work(session)),
    transact: (work) =>
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
