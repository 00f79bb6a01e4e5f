import type { SqlSession } from './session.ts';

/** Milliseconds after which an unused connection is closed, and between two looks for those. */
const UNUSED = 30_000;
const LOOK = 10_000;

/**
 * Keeps up to `most` connections. If the server has no more connections for us, callers share those that are open.
 * @param isCrowded whether opening failed for that reason
 */
export function sessionPool(open: () => Promise<SqlSession>, isCrowded: (thrown: unknown) => boolean, most: number) {
  const idle: { readonly session: SqlSession; readonly since: number }[] = [];
  const waiting: (() => void)[] = [];
  let count = 0;
  /** Fewer than `most` for a while after the server had no more. */
  let allowed = most;
  let closed = false;

  const drop = (session: SqlSession) => {
    session.close();
    count -= 1;
    waiting.shift()?.();
  };
  const dropIdle = (isOld: (since: number) => boolean) => {
    for (const one of idle.filter(({ session, since }) => isOld(since) || !session.isOpen())) {
      idle.splice(idle.indexOf(one), 1);
      drop(one.session);
    }
  };
  const timer = setInterval(() => {
    dropIdle((since) => performance.now() - since > UNUSED);
    allowed = most;
  }, LOOK).unref();

  /** A connection for one caller: an unused one, a new one, or the next that is released. Rejects if none can be opened. */
  const acquire = async (): Promise<SqlSession> => {
    for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
      if (next.session.isOpen()) return next.session;
      drop(next.session);
    }
    if (closed) throw new Error('the store is closed');
    if (count < allowed) {
      count += 1;
      try {
        return await open();
      } catch (thrown) {
        count -= 1;
        if (count === 0 || !isCrowded(thrown)) {
          waiting.shift()?.();
          throw thrown;
        }
        // One of those that are open may have been released in the meantime.
        allowed = count;
        return acquire();
      }
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
    return acquire();
  };
  return {
    acquire,
    /** Gives a connection back. One that is closed makes room for another. */
    release(session: SqlSession) {
      if (closed || !session.isOpen()) return drop(session);
      idle.push({ session, since: performance.now() });
      waiting.shift()?.();
    },
    /** Closes all connections that are not in use. */
    reset: () => dropIdle(() => true),
    close() {
      closed = true;
      clearInterval(timer);
      dropIdle(() => true);
    },
  };
}
