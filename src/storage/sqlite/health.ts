import { GatewayError } from '../../errors.ts';

/** SQLite's extended result codes for a failed fsync of a file and of its directory. */
const SQLITE_IOERR_FSYNC = 1034;
const SQLITE_IOERR_DIR_FSYNC = 1290;

/**
 * What an open store may still do. After a failed fsync the operating system may treat lost data as written, and a
 * second fsync would succeed and prove nothing. From then on nothing is written, and so nothing acknowledged, until a
 * restart. A file that was found damaged is not read either. A full disk causes neither: a write that did not fit was
 * never acknowledged.
 */
export class StoreHealth {
  #unwritable: Error | undefined;
  #damage: Error | undefined;
  condemn(damage: Error): void {
    this.#damage = damage;
  }

  /** Throws GatewayError `store_unavailable` with the reason as its cause. */
  read<T>(work: () => T): T {
    if (this.#damage !== undefined) throw unavailable(this.#damage);
    try {
      return work();
    } catch (thrown) {
      throw thrown instanceof GatewayError ? thrown : unavailable(thrown);
    }
  }

  /** Like `read`, for work that writes. */
  write<T>(work: () => T): T {
    if (this.#unwritable !== undefined) throw unavailable(this.#unwritable);
    return this.read(() => {
      try {
        return work();
      } catch (thrown) {
        const { errcode } = thrown as { errcode?: number };
        if (errcode === SQLITE_IOERR_FSYNC || errcode === SQLITE_IOERR_DIR_FSYNC) {
          throw this.#stopWriting(thrown);
        }
        throw thrown;
      }
    });
  }

  /**
   * Runs a sync of what was written. If it fails, nothing that it was to cover is acknowledged. It stays readable, and
   * may be there or not after a restart.
   */
  async sync(work: () => Promise<void>): Promise<void> {
    if (this.#unwritable !== undefined) throw unavailable(this.#unwritable);
    try {
      await work();
    } catch (thrown) {
      throw unavailable(this.#stopWriting(thrown));
    }
  }

  #stopWriting(cause: unknown): Error {
    this.#unwritable = new Error(
      'the disk failed to store a write: the store is read-only until coursegate is restarted. Check the disk first.',
      { cause },
    );
    return this.#unwritable;
  }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('store_unavailable', { cause });
}
