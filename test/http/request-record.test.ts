import { beforeEach, expect, it } from 'vitest';
import { RequestRecord } from '../../src/http/request-record.ts';

const provenance = {
  clientAddress: '192.0.2.1',
  hops: '',
  trusted: false,
  requestId: '1',
  traceId: () => '',
  traceFields: () => [],
};

let record: RequestRecord;
beforeEach(() => {
  record = new RequestRecord(provenance, 'POST', '/api/oauth/token');
});

it('has no steps until one is noted, and nothing to explain', () => {
  record.explainStep({ error: 'invalid_request' });
  expect(record.steps).toBeUndefined();
  record.noteStep('token');
  expect(record.steps).toEqual([{ kind: 'token' }]);
});

it('says nothing about an upstream, a member or a failure until something is known', () => {
  expect(record).toMatchObject({ outcome: 'public', areas: [], reason: '', oauthError: '', upstream: '' });
  expect(record).toMatchObject({ upstreamMilliseconds: -1, mediaType: '', streaming: false, route: 'none' });
  record.refusedWith('invalid_grant');
  expect(record).toMatchObject({ outcome: 'refused', reason: 'invalid_grant', oauthError: 'invalid_grant' });
});

it('keeps one step of each kind, to which later notes add', () => {
  record.noteStep('authorization', { clientId: 'app', outcome: 'sent', parameters: { scope: 'a', prompt: 'none' } });
  record.noteStep('code', { grantId: 'g-1' });
  record.noteStep('authorization', { outcome: 'shown', clientId: undefined, parameters: { scope: 'b' } });
  expect(record.steps).toEqual([
    { kind: 'authorization', clientId: 'app', outcome: 'shown', parameters: { scope: 'b', prompt: 'none' } },
    { kind: 'code', grantId: 'g-1' },
  ]);
});

it('explains the first step, whatever was noted last', () => {
  record.noteStep('authorization');
  record.noteStep('client-document', { clientId: 'https://app.example/client.json' });
  record.explainStep({ error: 'invalid_client', detail: 'client not found' });
  expect(record.steps).toEqual([
    { kind: 'authorization', error: 'invalid_client', detail: 'client not found' },
    { kind: 'client-document', clientId: 'https://app.example/client.json' },
  ]);
});
