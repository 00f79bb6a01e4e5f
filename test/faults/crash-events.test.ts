import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect, statusOf } from '../support/connection.ts';
import { EVENTS_SECRET, type EventReceiver, startEventReceiver } from '../support/event-receiver.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

let receiver: EventReceiver;
let gate: GateProcess;
beforeAll(async () => {
  receiver = await startEventReceiver();
  gate = await gateProcess({
    environment: {
      EVENTS_SECRET,
      COURSEGATE__UPSTREAMS__HOOKS: `{ url: '${receiver.upstream.url}', timeout: 1s }`,
      COURSEGATE__EVENTS: '{ upstream: hooks, path: /hook, secret: { env: EVENTS_SECRET } }',
    },
  });
});
afterAll(async () => {
  await gate.close();
  await receiver.close();
});

it('an event stored before a kill is sent after the restart, with the same ID', async () => {
  await gate.start();
  // The backend accepts requests and never responds, so the events stay with the gate.
  receiver.answers(() => {});
  const { access_token } = await connect(await registerApp(gate.origin));
  await receiver.has('client.registered');
  const [asked] = receiver.receipts;
  await gate.kill();
  expect(receiver.of('grant.created')).toEqual([]);

  receiver.answers(undefined);
  await gate.start();
  expect(await statusOf(gate.origin, access_token)).toBe(200);
  await receiver.has('grant.created');
  await receiver.has('client.registered', (events) => events.length > 1);
  const again = receiver.receipts.filter(({ event }) => event.type === 'client.registered').at(-1);
  expect(again?.id).toBe(asked?.id);
  expect(again?.body).toBe(asked?.body);
  expect(receiver.of('grant.created')).toHaveLength(1);
});
