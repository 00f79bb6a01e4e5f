import { auth as authV2, Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { auth as authV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { auth as auth125 } from 'mcp-sdk-1-25/client/auth.js';
import { Client as Client125 } from 'mcp-sdk-1-25/client/index.js';
import { StreamableHTTPClientTransport as Transport125 } from 'mcp-sdk-1-25/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { createAppMemory } from './support/app-memory.ts';

interface AnyTransport {
  finishAuth(returned: string | URLSearchParams): Promise<void>;
}

/** What both generations of the SDK have in common. */
interface AnyClient {
  connect(transport: AnyTransport): Promise<void>;
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: object }): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

interface Sdk {
  readonly client: () => AnyClient;
  readonly transport: (url: URL, authProvider: unknown) => AnyTransport;
  /** Starts a sign-in without a 401 before it. */
  readonly auth: (provider: unknown, options: { serverUrl: string; scope: string }) => Promise<string>;
  /** Whether a 403 makes it ask the member again although it holds a refresh token. */
  readonly stepsUp: boolean;
  /** The part of the authorization response that it takes: the first generation takes only the code. */
  readonly returned: (answer: URLSearchParams) => string | URLSearchParams;
}

const IMPLEMENTATION = { name: 'test', version: '1' };
const codeOf = (answer: URLSearchParams) => answer.get('code') ?? '';

const SDKS: Readonly<Record<string, Sdk>> = {
  'SDK 1.25.3': {
    client: () => new Client125(IMPLEMENTATION) as unknown as AnyClient,
    transport: (url, authProvider) => new Transport125(url, { authProvider: authProvider as never }),
    auth: (provider, options) => auth125(provider as never, options),
    stepsUp: false,
    returned: codeOf,
  } as Sdk,
  'SDK 1.32.2': {
    client: () => new ClientV1(IMPLEMENTATION) as unknown as AnyClient,
    transport: (url, authProvider) => new TransportV1(url, { authProvider: authProvider as never }),
    auth: (provider, options) => authV1(provider as never, options),
    stepsUp: false,
    returned: codeOf,
  } as Sdk,
  'SDK v2, legacy': {
    client: () => new ClientV2(IMPLEMENTATION, { versionNegotiation: { mode: 'legacy' } }) as unknown as AnyClient,
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider: authProvider as never }),
    auth: (provider, options) => authV2(provider as never, options),
    stepsUp: true,
    returned: (answer) => answer,
  } as Sdk,
  'SDK v2': {
    client: () => new ClientV2(IMPLEMENTATION, { versionNegotiation: { mode: 'auto' } }) as unknown as AnyClient,
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider: authProvider as never }),
    auth: (provider, options) => authV2(provider as never, options),
    stepsUp: true,
    returned: (answer) => answer,
  } as Sdk,
};

describe.each(Object.entries(SDKS))('%s', (_, sdk) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  /** Calls a tool that needs a member, then again with an invalid token, so that the app has to refresh it. */
  async function asMember(url: URL, memory: ReturnType<typeof createAppMemory>): Promise<void> {
    for (const spoiled of [false, true]) {
      const before = memory.kept.tokens?.access_token;
      if (spoiled) memory.kept.tokens = { ...memory.kept.tokens, access_token: 'spoiled' };
      const client = sdk.client();
      await client.connect(sdk.transport(url, memory.provider));
      expect((await client.listTools()).tools).toHaveLength(9);
      const { structuredContent } = await client.callTool({ name: 'get_my_account', arguments: {} });
      expect(structuredContent).toEqual({ id: 'm-1001', email: 'student@example.com' });
      await client.close();
      const after = memory.kept.tokens?.access_token;
      expect([spoiled, after === before, after === 'spoiled']).toEqual([spoiled, !spoiled, false]);
    }
  }

  it.each(['/mcp/member', '/mcp/member/'])(
    'with the URL %s asks for a sign-in when it connects, then reads and refreshes',
    async (path) => {
      const url = new URL(world.origin + path);
      const memory = createAppMemory();
      const transport = sdk.transport(url, memory.provider);
      await expect(sdk.client().connect(transport)).rejects.toThrow(/nauthorized/);
      expect(memory.asked()?.searchParams.get('resource')).toBe(url.href);
      expect(memory.asked()?.searchParams.get('scope')?.split(' ')).toContain('account:read');
      await transport.finishAuth(sdk.returned(await memory.approved()));
      await asMember(url, memory);
    },
  );

  const SAVE = {
    name: 'save_playback_position',
    arguments: { courseSlug: 'turning-bowls', lectureId: '4995', positionSeconds: 77 },
  };

  it('asks for what all tools need, and saves at once if the member ticks the change', async () => {
    const url = new URL(`${world.origin}/mcp/member`);
    const memory = createAppMemory();
    const transport = sdk.transport(url, memory.provider);
    await expect(sdk.client().connect(transport)).rejects.toThrow(/nauthorized/);
    expect(memory.asked()?.searchParams.get('scope')).toBe('account:read account:write');
    await transport.finishAuth(sdk.returned(await memory.approved()));
    expect(memory.kept.tokens?.scope).toBe('account:read account:write');
    const client = sdk.client();
    await client.connect(sdk.transport(url, memory.provider));
    expect((await client.callTool(SAVE)).structuredContent).toMatchObject({ slug: 'turning-bowls' });
    await client.close();
  });

  it('reads if the member leaves the change unticked, and is refused the change until the member allows it', async () => {
    const url = new URL(`${world.origin}/mcp/member`);
    const memory = createAppMemory();
    const first = sdk.transport(url, memory.provider);
    await expect(sdk.client().connect(first)).rejects.toThrow(/nauthorized/);
    await first.finishAuth(sdk.returned(await memory.approvedAsShown()));
    expect(memory.kept.tokens?.scope).toBe('account:read');
    const client = sdk.client();
    const transport = sdk.transport(url, memory.provider);
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('save_playback_position');
    const firstAsked = memory.asked();
    await expect(client.callTool(SAVE)).rejects.toThrow();
    expect(memory.asked() !== firstAsked).toBe(sdk.stepsUp);
    expect((await client.callTool({ name: 'get_my_account', arguments: {} })).structuredContent).toBeDefined();
    if (sdk.stepsUp) {
      expect(memory.asked()?.searchParams.get('scope')).toBe('account:read account:write');
      await transport.finishAuth(sdk.returned(await memory.approved()));
      expect((await client.callTool(SAVE)).structuredContent).toMatchObject({ slug: 'turning-bowls' });
    }
    await client.close();
  });

  it.each(['/mcp', '/mcp/'])('with the URL %s reads without a sign-in, and signs in when told to', async (path) => {
    const url = new URL(world.origin + path);
    const memory = createAppMemory();
    const client = sdk.client();
    const transport = sdk.transport(url, memory.provider);
    await client.connect(transport);
    expect((await client.listTools()).tools).toHaveLength(2);
    const result = await client.callTool({ name: 'search_courses', arguments: { query: 'tides' } });
    expect(result.structuredContent).toMatchObject({ courses: [{ slug: 'tides-and-currents' }] });
    expect(memory.asked()).toBeUndefined();
    expect(await sdk.auth(memory.provider, { serverUrl: url.href, scope: 'account:read offline_access' })).toBe(
      'REDIRECT',
    );
    await transport.finishAuth(sdk.returned(await memory.approved()));
    await client.close();
    await asMember(url, memory);
  });
});
