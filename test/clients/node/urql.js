import { Client, fetchExchange } from '@urql/core';
import { authExchange } from '@urql/exchange-auth';
import { QUERY, useAccount } from './support/account.js';
import { ACCOUNT_URL, needs, run, version } from './support/report.js';

await run(async () => {
  version('@urql/core');
  needs('preferGetMethod: false');
  await useAccount('urql', (newest) => {
    const auth = authExchange(async ({ appendHeaders }) => {
      let token = await newest();
      return {
        addAuthToOperation: (operation) => appendHeaders(operation, { authorization: `Bearer ${token}` }),
        didAuthError: (error) => error.response?.status === 401,
        async refreshAuth() {
          token = await newest();
        },
      };
    });
    const client = new Client({ url: ACCOUNT_URL, exchanges: [auth, fetchExchange], preferGetMethod: false });
    return async (variables) => {
      const { data, error } = await client.query(QUERY, variables).toPromise();
      if (error) throw error;
      return data;
    };
  });
});
