import type { Connection } from './known.ts';
import type { PromiseName } from './promises.ts';

interface EventsWatchOptions {
  readonly now: () => number;
  readonly isSafe: () => boolean;
  readonly isBroken: (promise: PromiseName, what: string) => void;
}

/** Compares the events that the backend was sent with what has become of connections. */
export function createEventsWatch({ now, isSafe, isBroken }: EventsWatchOptions) {
  /** The connections for which a commit has stored an access token, by name. */
  const issued = new Set<string>();
  const connected = new Set<Connection>();
  /** When each event was received first. */
  const created = new Map<Connection, number>();
  const revoked = new Map<Connection, number>();

  return {
    issued: (connection: string) => issued.add(connection),
    /** Its app was told tokens. */
    connected: (connection: Connection) => connected.add(connection),
    received(type: string, connection: Connection): void {
      const received = { 'grant.created': created, 'grant.revoked': revoked }[type];
      if (received === undefined || received.has(connection)) return;
      received.set(connection, now());
      if (!isSafe() || received === revoked) return;
      const { name } = connection;
      if (!issued.has(name)) isBroken('EventsTrue', `the backend was told that ${name} exists, which has no tokens`);
      if (revoked.has(connection)) isBroken('EventsTrue', `the backend was told that ${name} exists after its end`);
    },
    /** Something was given for the connection, to a request that began then. */
    isGoingOn(connection: Connection, start: number, what: string): void {
      const end = revoked.get(connection);
      if (end !== undefined && end < start)
        isBroken('EventsTrue', `${what} after the backend was told that ${connection.name} has ended`);
    },
    /** Everything that was to be sent was sent. */
    compare(connections: readonly Connection[]): void {
      if (!isSafe()) return;
      for (const connection of connections) {
        const { name, ends } = connection;
        if (connected.has(connection) && !created.has(connection))
          isBroken('EventsArrive', `the backend was never told that ${name} exists`);
        if (ends.length > 0 && !revoked.has(connection))
          isBroken('EventsArrive', `the backend was never told that ${name} has ended`);
      }
    },
  };
}
