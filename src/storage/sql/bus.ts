import { busListeners, type RevocationBus } from '../bus.ts';
import type { SqlDatabase } from './database.ts';
import type { SqlSession } from './session.ts';

/**
 * Milliseconds between two heartbeats on the connection that listens. They notice a lost connection and, where the
 * database cannot notify, a revocation.
 */
const HEARTBEAT = 400;

/** Revocations by NOTIFY on a connection of their own, or by a number that each one increases. */
export function sqlBus(database: SqlDatabase, url: string): RevocationBus {
  const { dialect } = database;
  const { tellAll, subscribe } = busListeners();
  let session: SqlSession | undefined;
  let last: unknown;
  let beating = false;
  let closed = false;

  const beat = async () => {
    try {
      const isNew = !session?.isOpen();
      if (isNew) session = await dialect.connect(url, tellAll);
      const [[row] = []] = (await session?.run(dialect.heartbeat)) ?? [];
      if (Number(row?.standby)) throw new Error('the server has become a replica');
      // A new connection may have missed revocations.
      if (isNew || row?.number !== last) tellAll();
      last = row?.number;
      if (closed) session?.close();
    } catch {
      // What a replica answers may be out of date.
      database.reset();
      session?.close();
      session = undefined;
    }
  };
  const timer = setInterval(() => {
    if (beating) return;
    beating = true;
    void beat().finally(() => {
      beating = false;
    });
  }, HEARTBEAT).unref();

  return {
    async announce() {
      await database.use((one) => one.run(dialect.announce));
    },
    subscribe,
    async close() {
      closed = true;
      clearInterval(timer);
      session?.close();
    },
  };
}
