import { PATIENCE, type RedisConnection } from './redis-connection.ts';

/** Milliseconds before we stop waiting: what is applied in time is also answered in time. */
const MARGIN = 100;

/**
 * Until when, by the server's clock, a commit may be applied. A server that hung works off what was sent to it when it goes
 * on: without a deadline it would use up codes and refresh tokens whose requests were told to try again.
 */
export class RedisDeadline {
  readonly #connection: RedisConnection;
  /** The server's clock less our monotonic one. Another connection may be to another server. */
  #ahead: number | undefined;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
    connection.client.on('ready', () => this.forget());
  }

  /** Out: Unix milliseconds. */
  async next(): Promise<number> {
    if (this.#ahead === undefined) {
      const [seconds, microseconds] = await this.#connection.call((client) => client.time());
      this.#ahead = Number(seconds) * 1000 + Number(microseconds) / 1000 - performance.now();
    }
    return Math.floor(this.#ahead + performance.now() + PATIENCE - MARGIN);
  }

  /** Has the server asked again: its clock was set, or a deadline passed for another reason. */
  forget(): void {
    this.#ahead = undefined;
  }
}
