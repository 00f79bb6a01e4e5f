import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { EXPRESS } from './contract/frameworks.ts';
import { bridgeQuery } from './contract/signing-gate.ts';

describeContract(EXPRESS);
describeEvents(EXPRESS);

type Handler = (request: IncomingMessage, response: ServerResponse, next: (thrown: Error) => void) => Promise<void>;

it.each(['whoami', 'bridge'] as const)(
  '%s passes a failure of the site on: in Express 4, a rejected promise would end the process',
  async (name) => {
    const file = fileURLToPath(new URL('../../integrations/express/coursegate.js', import.meta.url));
    const { coursegate } = await import(file);
    const secret = 'between gate and school, 32 or more';
    const gate = coursegate({
      ...{ origin: 'https://school.example', upstream: 'express', secret, loginUrl: () => '/login' },
      signedIn: () => Promise.reject(new Error('the database of members is down')),
      findMember: async () => undefined,
    }) as Record<typeof name, Handler>;
    const server = createServer((request, response) => {
      // Of Express' requests and responses, nothing else is used before the site is asked.
      Object.assign(request, { originalUrl: request.url });
      Object.assign(response, { set: () => response });
      gate[name](request, response, (thrown) => response.writeHead(500).end(thrown.message)).catch(() =>
        response.writeHead(502).end('rejected'),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const query = new URLSearchParams(
        bridgeQuery(secret, { nonce: 'n', return_sso_url: 'https://school.example/oauth/bridge' }),
      );
      const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}?${query}`);
      expect([response.status, await response.text()]).toEqual([500, 'the database of members is down']);
    } finally {
      server.close();
    }
  },
);
