import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import type { StepFacts, StepKind } from '../../../src/http/connection-step.ts';
import type { Provenance } from '../../../src/http/provenance.ts';
import { RequestRecord } from '../../../src/http/request-record.ts';
import { createRecorder, type Recorder } from '../../../src/operations/record/recorder.ts';
import { everyAttempt } from '../../../src/operator/console/recorder/explained.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import type { Store } from '../../../src/storage/store.ts';

describe('a recorder', () => {
  let now = 1_800_000_000_000;
  const clock = () => {
    now += 1;
    return now;
  };
  const provenance: Provenance = {
    ...{ clientAddress: '203.0.113.9', hops: '', trusted: false, requestId: 'r' },
    traceId: () => '',
    traceFields: () => [],
  };
  const stored = () => sealedStore(memoryStore(clock), 'x'.repeat(32));
  const request = (recorder: Recorder, path: string, kind: StepKind, facts: StepFacts) => {
    const record = new RequestRecord(provenance, 'POST', path);
    record.route = path;
    record.outcome = 'admitted';
    record.noteStep(kind, facts);
    recorder.request(record, 200, 'app/1');
  };

  it('keeps how long a request took, in milliseconds', async () => {
    const recorder = createRecorder(stored(), clock);
    const before = performance.now();
    request(recorder, '/api/oauth/register', 'registration', { clientId: 'c' });
    const longest = Math.round(performance.now() - before);
    const [attempt] = await recorder.list();
    expect(attempt?.steps[0]?.took).toBeLessThanOrEqual(longest);
    expect(attempt?.steps[0]?.took).toBeGreaterThanOrEqual(0);
  });

  it('joins what replicas have recorded of one attempt', async () => {
    const store = stored();
    const [first, second] = [createRecorder(store, clock), createRecorder(store, clock)];
    request(first, '/api/oauth/register', 'registration', { clientId: 'c', clientName: 'Split' });
    request(second, '/oauth/authorize', 'authorization', { clientId: 'c', interaction: 'i', page: 'p' });
    request(first, '/oauth/interaction/*', 'consent', { interaction: 'i', outcome: 'approved', grantId: 'g' });
    request(second, '/api/oauth/token', 'token', { clientId: 'c', grantId: 'g' });
    request(first, '/mcp', 'use', { clientId: 'c', grantId: 'g' });
    await Promise.all([first.flush(), second.flush()]);
    for (const recorder of [first, second, createRecorder(store, clock)]) {
      const [only, ...others] = await recorder.list();
      expect(others).toEqual([]);
      expect(new Set(only?.steps.map(({ kind }) => kind))).toEqual(
        new Set(['registration', 'authorization', 'consent', 'token', 'use']),
      );
    }
  });

  it('joins the pages of each member when replicas share the members of one app', async () => {
    const store = stored();
    const [first, second] = [createRecorder(store, clock), createRecorder(store, clock)];
    for (const interaction of ['i1', 'i2'])
      request(first, '/oauth/authorize', 'authorization', { clientId: 'https://app.example/c', interaction });
    for (const [interaction, outcome] of [
      ['i1', 'denied'],
      ['i2', 'approved'],
    ] as const)
      request(second, '/oauth/interaction/*', 'consent', { clientId: 'https://app.example/c', interaction, outcome });
    await Promise.all([first.flush(), second.flush()]);
    const attempts = await createRecorder(store, clock).list();
    const told = attempts.map(({ steps }) =>
      steps.map(({ interaction, outcome }) => `${interaction} ${outcome ?? 'asked'}`),
    );
    expect(told.toSorted()).toEqual([
      ['i1 asked', 'i1 denied'],
      ['i2 asked', 'i2 approved'],
    ]);
  });

  it('shows what it remembers while the store fails, and writes it later', async () => {
    const store = stored();
    const failing = { ...store, commit: () => Promise.reject(new GatewayError('store_unavailable')) };
    failing.scan = () => Promise.reject(new GatewayError('store_unavailable'));
    let current: Store = failing;
    const through = { ...store, commit: (...of: Parameters<Store['commit']>) => current.commit(...of) };
    through.scan = (...of) => current.scan(...of);
    const recorder = createRecorder(through, clock);
    request(recorder, '/api/oauth/register', 'registration', { clientId: 'c', clientName: 'Kept' });
    await expect(recorder.flush()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await recorder.list()).toHaveLength(1);
    current = store;
    await recorder.flush();
    expect(await createRecorder(store, clock).list()).toHaveLength(1);
  });
});

it('the use of a token is looked up for the newest 300 attempts that stopped with one', async () => {
  const step = {
    kind: 'token',
    at: 0,
    since: 0,
    status: 200,
    clientId: 'app',
    grantId: 'g',
    userAgent: 'app/1',
    endpoint: '',
  };
  const list = async () => Array.from({ length: 310 }, (_, at) => ({ id: `a${at}`, steps: [step], left: 0 }));
  let looked = 0;
  const get = async (kind: string) => {
    if (kind === 'GrantLastUse') looked += 1;
    return undefined;
  };
  const setting = { origin: 'https://gate.example', codeLifetime: 60, replayWindow: 30 };
  const all = await everyAttempt({ recorder: { list }, store: { get }, clock: () => 86_400_000, setting } as never);
  expect([all.length, looked]).toEqual([310, 300]);
});
