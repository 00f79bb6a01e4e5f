import { GraphQLClient } from 'graphql-request';
import { QUERY, useAccount } from './support/account.js';
import { ACCOUNT_URL, run, version } from './support/report.js';

await run(async () => {
  version('graphql-request');
  await useAccount('graphql-request', (token) => {
    const client = new GraphQLClient(ACCOUNT_URL, {
      requestMiddleware: async (request) => ({
        ...request,
        headers: { ...Object.fromEntries(new Headers(request.headers)), authorization: `Bearer ${await token()}` },
      }),
    });
    return (variables) => client.request(QUERY, variables);
  });
});
