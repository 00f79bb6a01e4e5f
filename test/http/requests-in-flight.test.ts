import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RequestsInFlight, requestOf } from '../../src/http/requests-in-flight.ts';

const inFlight = new RequestsInFlight();
const server = createServer();
const arrived: ServerResponse[] = [];

beforeAll(async () => {
  server.on('request', (request, response) => {
    inFlight.begin(server, request, response);
    arrived.push(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Opens requests, each on its own connection, and returns their responses. */
async function open(count: number): Promise<ServerResponse[]> {
  for (let at = 0; at < count; at += 1) {
    get({ port: (server.address() as AddressInfo).port, agent: false }, (response) => response.resume());
  }
  await expect.poll(() => arrived.length).toBe(count);
  return arrived.splice(0);
}

async function end(response: ServerResponse): Promise<void> {
  const closed = once(response, 'close');
  response.end();
  await closed;
}

it('holds each request until its response closes, in whatever order they do', async () => {
  const responses = await open(6);
  const left = new Set(responses);
  for (const at of [2, 5, 0, 3, 4, 1]) {
    const response = responses[at] as ServerResponse;
    expect(requestOf(response).over).toBe(false);
    await end(response);
    left.delete(response);
    expect(requestOf(response).over).toBe(true);
    expect(new Set(inFlight.all.map((one) => one.response))).toEqual(left);
    expect(inFlight.all).toHaveLength(left.size);
  }
});

it('runs the end steps of a request once, in their order, after it has left the list', async () => {
  const [response] = (await open(1)) as [ServerResponse];
  const request = requestOf(response);
  const ran: string[] = [];
  request.endSteps = ['first', 'second'].map((name) => (given) => {
    ran.push(`${name} ${given === request} ${inFlight.all.length}`);
  });
  await end(response);
  response.emit('close');
  expect(ran).toEqual(['first true 0', 'second true 0']);
});

it.each([
  ['whose turn it is', 1],
  ['that waits for its turn', 2],
])('the response %s is over at once if its connection has closed before', async (_which, sent) => {
  const requests = new RequestsInFlight();
  let isOver = false;
  let count = 0;
  const late = Promise.withResolvers<void>();
  const own = createServer((request, response) => {
    count += 1;
    if (count < sent) return;
    request.socket.once('close', () => {
      setImmediate(() => {
        requests.begin(own, request, response);
        const [begun] = requests.all;
        if (begun !== undefined)
          begun.endSteps = [
            () => {
              isOver = true;
            },
          ];
        response.end('too late');
        setImmediate(late.resolve);
      });
    });
  });
  own.listen(0, '127.0.0.1');
  await once(own, 'listening');
  const client = connect((own.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(sent));
  await expect.poll(() => count).toBe(sent);
  client.destroy();
  await late.promise;
  expect([isOver, requests.all.length]).toEqual([true, 0]);
  own.close();
});
