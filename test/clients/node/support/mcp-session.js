/** An app of the MCP SDKs, which differ in their classes only. */
import { listenForCallback } from './app.js';
import { chooseTool, createProvider } from './mcp-provider.js';
import { expiry, MCP_URL, STEP_UP, same, step } from './report.js';

/**
 * @param sdk.client makes a client
 * @param sdk.transport makes a transport to a URL with an OAuthClientProvider
 * @param sdk.finish what `finishAuth` takes from the authorization response
 */
export async function useMcp(name, { client: createClient, transport: createTransport, finish }) {
  const { returned } = await listenForCallback();
  const provider = createProvider(name);
  const url = new URL(`${MCP_URL}/member`);
  const connect = async () => {
    const client = createClient();
    const transport = createTransport(url, provider);
    try {
      await client.connect(transport);
    } catch (error) {
      if (!/unauthorized/i.test(`${error.name} ${error.message}`)) throw error;
      const callback = await returned;
      step('authorize');
      await transport.finishAuth(finish(callback.searchParams));
      step('token');
      return await connect();
    }
    return client;
  };
  const client = await connect();
  const { tools } = await client.listTools();
  step('tools');
  const call = async () => {
    const result = await client.callTool({ name: chooseTool(tools.map((tool) => tool.name)), arguments: {} });
    if (result.isError) throw new Error(JSON.stringify(result.content));
  };
  await call();
  step('call');
  if (STEP_UP !== undefined) return await stepUp(client, provider, finish);

  const before = provider.kept.tokens.access_token;
  await expiry();
  await call();
  same(provider.kept.tokens.access_token === before, false, 'the access token after its expiry is the old one');
  step('expired-and-refreshed');
  await client.close();
}

/** Calls a tool that the token does not cover, signs in for it if the SDK asks, and calls it again. */
async function stepUp(client, provider, finish) {
  const { returned } = await listenForCallback();
  const before = provider.kept.tokens.scope.split(' ');
  const call = () => client.callTool(JSON.parse(STEP_UP));
  try {
    await call();
  } catch (error) {
    if (!/unauthorized/i.test(`${error.name} ${error.message}`)) throw error;
    await client.transport.finishAuth(finish((await returned).searchParams));
    const result = await call();
    if (result.isError) throw new Error(JSON.stringify(result.content));
  }
  const after = provider.kept.tokens.scope.split(' ');
  same(before.filter((scope) => !after.includes(scope)).join(' '), '', 'scopes that were lost');
  step('step-up');
}
