import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../../support/recording-upstream.ts';

/** What a handler can do during a call, with either SDK. */
interface DuringCall {
  /** Tells the client about progress; nothing happens if it did not ask. */
  readonly progress: (progress: number, message?: string) => Promise<void>;
  /** Asks the client's user something (earlier revisions). */
  readonly elicit: () => Promise<unknown>;
  readonly signal: AbortSignal;
}

// biome-ignore lint/suspicious/noExplicitAny: definitions and results are written as a server sends them
type Loose = any;

/** A real MCP server of an upstream, which records what it is sent. */
export interface ToolServer {
  readonly upstream: RecordingUpstream;
  readonly url: string;
  /** What `tools/list` answers. A test changes it. */
  readonly tools: Loose[];
  readonly handlers: Record<string, (args: Loose, during: DuringCall) => Promise<object>>;
  /** The messages received, in order, with the fields of their requests. */
  messages(method?: string): { message: Loose; values: (name: string) => string[] }[];
  /** Forgets every session, as a server that restarts. */
  forget(): void;
  /** Forgets the next sessions, each after this many requests, as WordPress when a member's apps overwrite them. */
  forgetNext(count: number, requests: number): void;
  /** Speaks through the SDK again, after a test has replaced the script. */
  restore(): void;
  close(): Promise<void>;
}

/**
 * Starts a server with the TypeScript SDK: `v2` without sessions, revision 2026-07-28 and earlier ones; `v1` with
 * sessions, answering with events or with JSON.
 */
export async function startToolServer(kind: 'v2' | 'v1' | 'v1-json'): Promise<ToolServer> {
  const tools: Loose[] = [];
  const handlers: ToolServer['handlers'] = {};
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; left: number }>();
  let doomed = { count: 0, requests: 0 };
  const called = async (name: string, args: object, during: DuringCall): Promise<Loose> => {
    const handler = handlers[name];
    if (handler === undefined) throw new Error(`no tool ${name}`);
    return handler(args, during);
  };

  const modern = createMcpHandler(() => {
    const server = new Server({ name: 'school', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools }) as Loose);
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const progressToken = params._meta?.progressToken;
      return called(params.name, params.arguments ?? {}, {
        signal: mcpReq.signal,
        elicit: () => Promise.reject(new Error('not in this revision')),
        async progress(progress, message) {
          if (progressToken === undefined) return;
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, message },
          } as Loose);
        },
      });
    });
    return server;
  });

  const v1Session = async (): Promise<StreamableHTTPServerTransport> => {
    const server = new ServerV1({ name: 'school', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      const progressToken = params._meta?.progressToken;
      return called(params.name, params.arguments ?? {}, {
        signal: extra.signal,
        elicit: () =>
          extra.sendRequest({ method: 'elicitation/create', params: { message: '?' } } as Loose, {} as Loose),
        async progress(progress, message) {
          if (progressToken === undefined) return;
          const params = { progressToken, progress, message };
          await extra.sendNotification({ method: 'notifications/progress', params } as Loose);
        },
      });
    });
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: kind === 'v1-json',
      onsessioninitialized(id) {
        doomed.count -= 1;
        sessions.set(id, { transport, left: doomed.count < 0 ? Number.POSITIVE_INFINITY : doomed.requests });
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(transport as Loose);
    return transport;
  };

  const script: Script = async (request, response, recorded) => {
    await recorded.whole;
    const { method = 'POST' } = request;
    const text = recorded.body.toString();
    if (kind === 'v2') {
      const left = new AbortController();
      response.once('close', () => left.abort());
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
      const init = { method, headers, signal: left.signal, ...(text === '' ? {} : { body: text }) };
      const answer = await modern.fetch(new Request(`http://localhost${request.url}`, init));
      response.writeHead(answer.status, [...answer.headers].flat());
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
      return;
    }
    const [id] = recorded.values('mcp-session-id');
    const body = text === '' ? undefined : JSON.parse(text);
    const session = id === undefined ? undefined : sessions.get(id);
    if (session !== undefined && body?.id !== undefined) session.left -= 1;
    const known = session !== undefined && session.left >= 0 ? session.transport : undefined;
    if (known === undefined && body?.method !== 'initialize') {
      // The second is the answer of WordPress' MCP adapter 0.4, and the first that of the specification.
      const [status, code] = id === undefined ? [400, -32_600] : kind === 'v1' ? [404, -32_001] : [200, -32_602];
      const error = { code, message: 'Invalid or expired session' };
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', error, id: body?.id ?? null }));
      return;
    }
    await (known ?? (await v1Session())).handleRequest(request, response, body);
  };

  const upstream = await startRecordingUpstream(script);
  return {
    upstream,
    url: upstream.url,
    tools,
    handlers,
    messages: (method) =>
      upstream.requests
        .filter(({ body }) => body.length > 0)
        .map(({ body, values }) => ({ message: JSON.parse(body.toString()), values }))
        .filter(({ message }) => method === undefined || message.method === method),
    forget: () => sessions.clear(),
    forgetNext(count, requests) {
      doomed = { count, requests };
    },
    restore: () => upstream.script(script),
    close: () => upstream.close(),
  };
}
