import { Pool } from 'undici';
import { cpuMeter } from './cpu.ts';
import { type Cost, loadSlice } from './load.ts';

/** A server that answers POST requests with JSON. */
export interface JsonServer {
  readonly name: string;
  readonly port: number;
  /** Its processes. Their descendants are found. */
  readonly roots: readonly number[];
  /** Its clients' tokens; empty if it does not check tokens. */
  readonly tokens: readonly string[];
}

/** A POST request, sent again and again. */
export interface JsonRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Text that only a failed response contains. */
  readonly failed: string;
}

const LANES = Array.from({ length: 8 }, (_, at) => at);

/** Sends one server requests on eight keep-alive connections, with its tokens in turn. */
export class JsonClient {
  readonly #server: JsonServer;
  readonly #pool: Pool;
  #sent = 0;

  constructor(server: JsonServer) {
    this.#server = server;
    this.#pool = new Pool(`http://localhost:${server.port}`, { connections: LANES.length, connect: { family: 4 } });
  }

  async ask({ path, headers, body, failed }: JsonRequest): Promise<string> {
    const { name, tokens } = this.#server;
    this.#sent += 1;
    const token = tokens[this.#sent % tokens.length];
    const response = await this.#pool.request({
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body,
    });
    const text = await response.body.text();
    if (response.statusCode !== 200 || text.includes(failed))
      throw new Error(`${name} responded with ${response.statusCode}: ${text}`);
    return text;
  }

  /** The server's CPU time per request, over about a second. */
  load(request: JsonRequest): Promise<Cost> {
    return loadSlice(
      LANES,
      () => this.ask(request),
      () => cpuMeter(this.#server.roots),
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
