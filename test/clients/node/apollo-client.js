import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { QUERY, useAccount } from './support/account.js';
import { ACCOUNT_URL, run, version } from './support/report.js';

await run(async () => {
  version('@apollo/client');
  await useAccount('Apollo Client', (token) => {
    const signed = new SetContextLink(async ({ headers }) => ({
      headers: { ...headers, authorization: `Bearer ${await token()}` },
    }));
    const client = new ApolloClient({
      link: ApolloLink.from([signed, new HttpLink({ uri: ACCOUNT_URL })]),
      cache: new InMemoryCache(),
    });
    const query = gql(QUERY);
    return async (variables) => (await client.query({ query, variables, fetchPolicy: 'network-only' })).data;
  });
});
