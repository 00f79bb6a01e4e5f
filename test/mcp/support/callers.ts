import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { envelope, VERSION } from './mcp.ts';

/** The result of a call, whichever client made it. */
interface Called {
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** A client of the tool interface. All clients of a kind count their JSON-RPC IDs from the same number. */
export interface Caller {
  call(name: string, args: Record<string, unknown>): Promise<Called>;
  list(): Promise<readonly string[]>;
  close(): Promise<void>;
}

type Connect = (url: URL, token: string | undefined) => Promise<Caller>;

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const MOST_TRIES = 20;

/**
 * Retries after a 503, as clients are told to, and after the 502 of a balancer whose kept connection a gate had just
 * closed. The calls change nothing, so they can be repeated.
 */
async function patientFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(url, init);
    if ((answer.status !== 502 && answer.status !== 503) || tries === MOST_TRIES) return answer;
    await answer.arrayBuffer();
    await sleep(200);
  }
}

const sdk2 =
  (mode: 'auto' | 'legacy'): Connect =>
  async (url, token) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const options = { requestInit: { headers: bearer(token) }, fetch: patientFetch };
    await client.connect(new StreamableHTTPClientTransport(url, options));
    return {
      call: async (name, args) => (await client.callTool({ name, arguments: args })) as Called,
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      close: () => client.close(),
    };
  };

const sdk1: Connect = async (url, token) => {
  const client = new ClientV1({ name: 'test', version: '1' });
  const transport = new TransportV1(url, { requestInit: { headers: bearer(token) }, fetch: patientFetch });
  await client.connect(transport as never);
  return {
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as Called,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
};

/** Handmade messages of one revision, with IDs from 1 and the same progress token in every client. */
const byHand =
  (revision: string): Connect =>
  async (url, token) => {
    let id = 0;
    const modern = revision === VERSION;
    const send = async (method: string, given: Record<string, unknown>) => {
      id += 1;
      const _meta = { progressToken: 1, ...(modern ? envelope() : {}) };
      const own = id;
      const answer = await patientFetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': revision,
          ...(modern ? { 'mcp-method': method } : {}),
          ...(modern && typeof given.name === 'string' ? { 'mcp-name': given.name } : {}),
          ...bearer(token),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: own, method, params: { ...given, _meta } }),
      });
      const { status } = answer;
      const body = await answer.text();
      if (status !== 200) throw new Error(`${revision} ${method}: ${status} ${body.slice(0, 200)}`);
      const message = JSON.parse(body);
      if (message.id !== own) throw new Error(`the answer to ${own} is one to ${message.id}`);
      return message.result;
    };
    return {
      call: (name, args) => send('tools/call', { name, arguments: args }),
      list: async () => (await send('tools/list', {})).tools.map(({ name }: { name: string }) => name),
      close: async () => undefined,
    };
  };

/** One of each kind: both SDKs, and handmade messages of every revision that is served. */
export const CALLERS: readonly Connect[] = [
  sdk2('auto'),
  byHand('2025-11-25'),
  sdk2('legacy'),
  byHand(VERSION),
  sdk1,
  byHand('2025-06-18'),
  byHand('2025-03-26'),
];
