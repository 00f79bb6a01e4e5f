import { describe, expect, it } from 'vitest';
import { documentHost } from '../../../src/authorization-server/client-documents/client-proof.ts';

type Client = Parameters<typeof documentHost>[0];

describe('documentHost', () => {
  it('is the host that serves the document', () => {
    const client = Object.defineProperty(
      { clientId: 'https://claude.ai/oauth/client.json' },
      'clientIdMetadataDocument',
      {
        value: true,
      },
    );
    expect(documentHost(client as unknown as Client)).toBe('claude.ai');
  });

  it('is undefined for a registered client, whatever it calls itself', () => {
    const client = { clientId: 'https://claude.ai/oauth/client.json', clientName: 'Claude' };
    expect(documentHost(client as unknown as Client)).toBeUndefined();
  });
});
