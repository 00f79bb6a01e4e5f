import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Backend, frameworkPresent, SAM, startBackend } from './contract/backend.ts';
import { describeContract } from './contract/contract.ts';
import { describeEvents } from './contract/events.ts';
import { RAILS } from './contract/frameworks.ts';
import { type SigningGate, startKeys } from './contract/signing-gate.ts';

describeContract(RAILS);
describeEvents(RAILS);

describe.skipIf(!frameworkPresent(RAILS))('Devise', () => {
  let gate: SigningGate;
  let backend: Backend;
  beforeAll(async () => {
    gate = await startKeys(SAM.id);
    backend = await startBackend(RAILS, gate);
  });
  afterAll(async () => {
    await backend?.close();
    await gate?.close();
  });

  it('does not count a gate request as a sign-in', async () => {
    for (let round = 0; round < 3; round += 1) {
      const headers = { 'x-coursegate-assertion': gate.assertion() };
      expect(await (await fetch(`${backend.url}/sign-ins`, { headers })).json()).toEqual({ count: 0 });
    }
  });
});
