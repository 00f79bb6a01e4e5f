import { auth, createMCPClient } from '@ai-sdk/mcp';
import { listenForCallback } from './support/app.js';
import { chooseTool, createProvider } from './support/mcp-provider.js';
import { expiry, MCP_URL, run, same, step, version } from './support/report.js';

await run(async () => {
  version('@ai-sdk/mcp');
  const { returned } = await listenForCallback();
  const url = `${MCP_URL}/member`;
  const authProvider = createProvider('AI SDK');
  if ((await auth(authProvider, { serverUrl: url })) === 'REDIRECT') {
    const { searchParams } = await returned;
    step('authorize');
    await auth(authProvider, {
      serverUrl: url,
      authorizationCode: searchParams.get('code'),
      callbackState: searchParams.get('state'),
      callbackIssuer: searchParams.get('iss'),
    });
    step('token');
  }

  const client = await createMCPClient({ transport: { type: 'http', url, authProvider } });
  const tools = await client.tools();
  step('tools');
  const call = async () => {
    const result = await tools[chooseTool(Object.keys(tools))].execute({}, { messages: [], toolCallId: '1' });
    if (result.isError) throw new Error(JSON.stringify(result.content));
  };
  await call();
  step('call');

  const before = authProvider.kept.tokens.access_token;
  await expiry();
  await call();
  same(authProvider.kept.tokens.access_token === before, false, 'the access token after its expiry is the old one');
  step('expired-and-refreshed');
  await client.close();
});
