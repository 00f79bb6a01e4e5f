import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
  type McpServerFactory,
  Server,
} from '@modelcontextprotocol/server';
import { RESULT, TOOLS } from './mcp-tools.ts';

/**
 * The SDK with the same tools and nothing in front of it. Everything reusable is created once. MCP_SDK selects the variant:
 * `documented` creates an McpServer for each request, as in the README; `low-level` is a Server whose two handlers return
 * constants and validate nothing; `upstream` is like `documented`, but the tool calls the school with fetch.
 */
const how = process.env.MCP_SDK;
const UPSTREAM = process.env.UPSTREAM;
const info = { name: 'bench', version: '1' };
const none = { listChanged: false };
const capabilities = { tools: none, resources: none, prompts: none };
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const schema = (given: object | undefined, closed: boolean) =>
  ({ type: 'object', properties: {}, ...(closed ? { additionalProperties: false } : {}), ...given }) as JsonSchemaType;
const listed = TOOLS.map(({ name, title, description, input, output }) => ({
  name,
  title,
  description,
  inputSchema: schema(input, true),
  outputSchema: schema(output, false),
  annotations: { title, ...annotations },
}));
const compiled = listed.map(({ inputSchema, outputSchema, ...rest }) => ({
  ...rest,
  inputSchema: fromJsonSchema(inputSchema),
  outputSchema: fromJsonSchema(outputSchema),
}));

interface Row {
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly lectures_count: number;
  readonly price_cents: number;
  readonly currency: string;
}

async function search(): Promise<typeof RESULT> {
  if (how !== 'upstream') return RESULT;
  const answer = await fetch(`${UPSTREAM}/api/v1/courses?per_page=20`, { headers: { accept: 'application/json' } });
  const { data, meta } = (await answer.json()) as { data: Row[]; meta: { total: number; next_page: number } };
  return {
    courses: data.map(({ slug, title, summary, lectures_count, price_cents, currency }) => {
      return { slug, title, summary, lectures: lectures_count, priceCents: price_cents, currency };
    }),
    total: meta.total,
    nextPage: meta.next_page,
  };
}

const result = async () => {
  const structuredContent = await search();
  return { content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }], structuredContent };
};

const documented: McpServerFactory = () => {
  const server = new McpServer(info, { capabilities });
  for (const { name, ...tool } of compiled) server.registerTool(name, tool, result);
  return server;
};

const lowLevel: McpServerFactory = () => {
  const server = new Server(info, { capabilities });
  server.setRequestHandler('tools/list', () => ({ tools: listed as never }));
  server.setRequestHandler('tools/call', result);
  return server;
};

const { fetch: serve } = createMcpHandler(how === 'low-level' ? lowLevel : documented, { legacy: 'stateless' });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
  const parsedBody = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  const asked = new Request(`http://${request.headers.host}${request.url}`, { method: 'POST', headers });
  const given = await serve(asked, { parsedBody });
  const body = Buffer.from(await given.arrayBuffer());
  response
    .writeHead(given.status, { ...Object.fromEntries(given.headers), 'content-length': body.byteLength })
    .end(body);
}

createServer((request, response) => void answer(request, response)).listen(Number(process.env.PORT), '127.0.0.1');
// The CPU profile is written only if the process exits normally.
process.once('SIGTERM', () => process.exit());
