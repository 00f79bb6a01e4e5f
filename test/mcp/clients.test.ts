import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Client125 } from 'mcp-sdk-1-25/client/index.js';
import { StreamableHTTPClientTransport as Transport125 } from 'mcp-sdk-1-25/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { tokenOf } from './support/mcp.ts';

/** The part of a client that both generations of the SDK share. */
interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<Record<string, unknown>>;
  readResource(params: { uri: string }): Promise<{ contents: readonly object[] }>;
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<{ messages: readonly object[] }>;
  close(): Promise<void>;
}

type Connect = (url: URL, headers: Record<string, string>) => Promise<AnyClient>;

const v2 =
  (mode: 'auto' | 'legacy'): Connect =>
  async (url, headers) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return client as unknown as AnyClient;
  };

const v1: Connect = async (url, headers) => {
  const client = new ClientV1({ name: 'test', version: '1' });
  await client.connect(new TransportV1(url, { requestInit: { headers } }) as never);
  return client as unknown as AnyClient;
};

const v125: Connect = async (url, headers) => {
  const client = new Client125({ name: 'test', version: '1' });
  await client.connect(new Transport125(url, { requestInit: { headers } }) as never);
  return client as unknown as AnyClient;
};

describe.each<[string, Connect]>([
  ['SDK v2, revision 2026-07-28', v2('auto')],
  ['SDK v2, the revisions before', v2('legacy')],
  ['SDK v1', v1],
  ['SDK 1.25.3', v125],
])('%s', (_, connect) => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    token = await tokenOf(world);
  });
  afterAll(() => world.close());

  it('connects without a token, and uses the public tools', async () => {
    const client = await connect(new URL(`${world.origin}/mcp`), {});
    expect((await client.listTools()).tools).toHaveLength(2);
    const result = await client.callTool({ name: 'search_courses', arguments: { query: 'tides' } });
    expect(result.structuredContent).toMatchObject({ courses: [{ slug: 'tides-and-currents' }] });
    const { contents } = await client.readResource({ uri: 'course://tides-and-currents' });
    expect(contents).toMatchObject([{ mimeType: 'application/json', text: expect.stringContaining('Tides') }]);
    const prompt = await client.getPrompt({ name: 'study_plan', arguments: { goal: 'sail at night' } });
    expect(prompt.messages).toMatchObject([
      { role: 'user', content: { text: expect.stringContaining('sail at night') } },
    ]);
    await client.close();
  });

  it('connects with a token at both endpoints, and uses the member’s tools', async () => {
    for (const door of ['/mcp', '/mcp/member']) {
      const client = await connect(new URL(`${world.origin}${door}`), { authorization: `Bearer ${token}` });
      expect((await client.listTools()).tools).toHaveLength(9);
      const result = await client.callTool({ name: 'get_my_account', arguments: {} });
      expect(result.structuredContent).toEqual({ id: 'm-1001', email: 'student@example.com' });
      await client.close();
    }
  });

  it('is refused at the members’ endpoint without a token', async () => {
    await expect(connect(new URL(`${world.origin}/mcp/member`), {})).rejects.toThrow(/401|nauthorized|invalid_token/);
  });
});
