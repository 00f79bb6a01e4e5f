import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../../authorization-server/client-documents/support/document-host.ts';
import { call, register } from '../../authorization-server/registration/support.ts';
import { type App, authorizationRequest, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { connect, refreshForm, token } from '../../support/connection.ts';
import type { World } from '../../support/world.ts';
import { type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';

describe('registration that the operator has closed', () => {
  let host: DocumentHost;
  let world: World;
  let operator: ConsoleSession;
  let app: App;
  const KNOWN = 'https://one.example/client.json';
  const NEW = 'https://two.example/client.json';
  const ofDocument = (url: string): App => ({
    ...app,
    client: { client_id: url },
    redirectUri: `${new URL(url).origin}/callback`,
  });
  const open = async (url: string) => createBrowser().open((await authorizationRequest(ofDocument(url))).url);

  beforeAll(async () => {
    host = await startDocumentHost();
    for (const url of [KNOWN, NEW]) host.serve(url, answerJson(plainDocument(url)));
    world = await startConsoleWorld({ documentNetwork: host.network });
    operator = await openConsole(world);
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await host.close();
  });

  it('is closed and opened on its page, and the first page says so', async () => {
    expect((await operator.get('/console')).text).toContain('New apps can connect.');
    expect((await operator.get('/console/registration/close')).text).toContain('Close registration?');
    expect((await operator.post('/console/registration/close', { reason: 'an attack' })).location).toBe(
      '/console/apps',
    );
    expect((await operator.get('/console/apps')).text).toContain('Registration is closed. New apps are refused.');
    expect((await operator.get('/console')).text).toContain('New apps are refused since');
    await operator.post('/console/registration/open');
    expect((await operator.get('/console')).text).toContain('New apps can connect.');
  });

  it('refuses new apps, keeps those that are known, and survives a restart', async () => {
    const tokens = await connect(app);
    const document = await connect(ofDocument(KNOWN));
    await operator.post('/console/registration/close');
    await world.restart();

    const refused = await register(world, {});
    expect([refused.status, refused.headers['cache-control']]).toEqual([403, 'no-store']);
    expect(refused.body).toEqual({
      error: 'access_denied',
      error_description:
        'no new apps are accepted at the moment; apps that are connected already keep working. Ask the school',
    });
    const page = await open(NEW);
    expect([page.status, host.resolved.includes('two.example')]).toEqual([403, false]);
    expect(page.text).toContain('is not accepting new apps right now');

    expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(200);
    await connect(app);
    const managed = String(app.client.registration_client_uri);
    const own = { token: String(app.client.registration_access_token) };
    expect((await call(world, 'GET', new URL(managed).pathname, own)).status).toBe(200);
    expect((await token(ofDocument(KNOWN), refreshForm(ofDocument(KNOWN), document.refresh_token))).status).toBe(200);
    await connect(ofDocument(KNOWN));

    operator = await openConsole(world);
    await operator.post('/console/registration/open');
    expect((await register(world, {})).status).toBe(201);
    expect((await open(NEW)).status).toBe(200);
  });
});
