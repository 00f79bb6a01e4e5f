import { GatewayError } from '../../errors.ts';

/** SQLite's extended result codes for a failed fsync of a file (SQLITE_IOERR_FSYNC) and of its directory. */
const FAILED_SYNCS = new Set([1034, 1290]);

/**
 * What an open store may still do. After a failed fsync the operating system may treat lost data as written, and a
 * second fsync would succeed and prove nothing. From then on nothing is written, and so nothing acknowledged, until a
 * restart. A file that was found damaged is not read either. A full disk causes neither: a write that did not fit was
 * never acknowledged.
 */
export function storeHealth() {
  let unwritable: Error | undefined;
  let damaged: Error | undefined;
  const stopWriting = (cause: unknown): Error => {
    unwritable = new Error(
      'the disk failed to store a write: the store is read-only until coursegate is restarted. Check the disk first.',
      { cause },
    );
    return unwritable;
  };
  /** Throws GatewayError `store_unavailable` with the reason as its cause. */
  const read = <T>(work: () => T): T => {
    if (damaged !== undefined) throw unavailable(damaged);
    try {
      return work();
    } catch (thrown) {
      throw thrown instanceof GatewayError ? thrown : unavailable(thrown);
    }
  };

  return {
    condemn(damage: Error): void {
      damaged = damage;
    },
    read,

    /** Like `read`, for work that writes. */
    write: <T>(work: () => T): T =>
      read(() => {
        if (unwritable !== undefined) throw unwritable;
        try {
          return work();
        } catch (thrown) {
          throw FAILED_SYNCS.has((thrown as { errcode?: number }).errcode ?? 0) ? stopWriting(thrown) : thrown;
        }
      }),

    /**
     * Runs a sync of what was written. If it fails, nothing that it was to cover is acknowledged. It stays readable, and
     * may be there or not after a restart.
     */
    async sync(work: () => Promise<void>): Promise<void> {
      if (unwritable !== undefined) throw unavailable(unwritable);
      await work().catch((thrown) => {
        throw unavailable(stopWriting(thrown));
      });
    },
  };
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('store_unavailable', { cause });
}
