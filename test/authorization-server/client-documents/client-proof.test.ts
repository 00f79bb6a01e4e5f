import { describe, expect, it } from 'vitest';
import { clientProof } from '../../../src/authorization-server/client-documents/client-proof.ts';

type Client = Parameters<typeof clientProof>[0];

describe('clientProof', () => {
  it('returns the host that serves the document', () => {
    const client = Object.defineProperty(
      { clientId: 'https://claude.ai/oauth/client.json' },
      'clientIdMetadataDocument',
      {
        value: true,
      },
    );
    expect(clientProof(client as unknown as Client)).toEqual({ kind: 'document', host: 'claude.ai' });
  });

  it('returns none for a registered client, whatever it calls itself', () => {
    const client = { clientId: 'https://claude.ai/oauth/client.json', clientName: 'Claude' };
    expect(clientProof(client as unknown as Client)).toEqual({ kind: 'none' });
  });
});
