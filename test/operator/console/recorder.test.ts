import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type DocumentHost,
  startDocumentHost,
} from '../../authorization-server/client-documents/support/document-host.ts';
import type { World } from '../../support/world.ts';
import { type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';
import { RECORDINGS, type Recording, replay } from './support/recorded.ts';

/** The explanation on the page of the newest attempt. */
async function newest(session: ConsoleSession): Promise<{ row: string; page: string }> {
  const list = await session.get('/console/connections');
  const row = /<tbody><tr>[\s\S]*?<\/tr>/.exec(list.text)?.[0] ?? '';
  const path = /href="(\/console\/connections\/[^"]+)"/.exec(row)?.[1] ?? '';
  return { row: plain(row), page: plain((await session.get(path)).text) };
}

const plain = (page: string) =>
  page
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"');

const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

describe.each(['A', 'B'])('recorded failures, sent to Profile %s', (profile) => {
  const recordings = RECORDINGS.filter((recording) => recording.profile === profile);
  const base = {
    listen: { trustedProxies: ['loopback'] },
    admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
  };
  let hosts: DocumentHost;
  let world: World;
  let configured = '{}';
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    hosts = await startDocumentHost();
    world = await startConsoleWorld({ profile, documentNetwork: hosts.network, overrides: base });
  });
  afterAll(async () => {
    await world.close();
    await hosts.close();
    vi.useRealTimers();
  });

  const configure = async ({ overrides = {} }: Recording) => {
    if (configured === JSON.stringify(overrides)) return;
    expect(await world.reload({ ...base, ...overrides })).toMatchObject({ kind: 'taken' });
    configured = JSON.stringify(overrides);
  };
  const serveDocuments = ({ documents = {} }: Recording) => {
    for (const [url, { status = 200, json }] of Object.entries(documents))
      hosts.serve(url, (_request, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json ?? {})),
      );
  };

  it.each(recordings)('explains $name: $client', async (recording) => {
    pass(7200);
    serveDocuments(recording);
    await configure(recording);
    await replay(recording, { world, pass });
    const { row, page } = await newest(await openConsole(world));
    const { state, cause, says } = recording.expected;
    expect(row).toContain(state);
    expect(page).toContain(`Cause: ${cause} `);
    expect(page).toContain(says.replaceAll('{origin}', world.origin));
  });
});
