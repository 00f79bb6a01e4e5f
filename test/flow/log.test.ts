import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { type App, authorizationRequest, bearer, introspect, redeem, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { approved, refreshForm, token } from '../support/connection.ts';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

describe('the log and the stored data', () => {
  let folder: string;
  let world: World;
  let app: App;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-log-'));
    const descriptor = openSync(join(folder, 'log'), 'a');
    world = await startWorld({
      profile: 'A',
      log: createLog('debug', descriptor),
      accessDescriptor: descriptor,
      overrides: { log: { access: true } },
    });
    app = await registerApp(world.origin, { confidential: true });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
  });

  it('contain no secret of a whole flow, whether it was valid or not', async () => {
    const browser = createBrowser();
    const request = await authorizationRequest(app);
    const returned = await approve(request.url, app.redirectUri, { browser });
    const code = returned.searchParams.get('code') ?? '';
    const tokens = await redeem(app, request, returned);
    const { form, request: second } = await approved(app);
    await token(app, { ...form, code_verifier: 'a'.repeat(43) });
    await token(app, form, { authorization: 'Basic c2VjcmV0LWJhc2ljOng=' });
    const { body: redeemed } = await token(app, form);
    const { body: renewed } = await token(app, refreshForm(app, redeemed.refresh_token));
    await token(app, refreshForm(app, redeemed.refresh_token));
    await introspect(app, tokens.access_token);
    for (const headers of [bearer(tokens.access_token), bearer(`${tokens.access_token}x`), { cookie: 'a=b' }]) {
      await fetch(`${world.origin}/api/oauth/userinfo?access_token=${tokens.access_token}`, { headers });
      await fetch(`${world.origin}/api/v1/courses?access_token=${tokens.access_token}`, { headers });
    }
    await fetch(`${world.origin}/nothing/${tokens.access_token}`);
    await revoke(app, String(tokens.refresh_token));

    const minted = {
      code,
      secondCode: form.code,
      access: tokens.access_token,
      refresh: tokens.refresh_token,
      id: tokens.id_token,
      redeemed: redeemed.access_token,
      redeemedRefresh: redeemed.refresh_token,
      renewed: renewed.access_token,
      renewedRefresh: renewed.refresh_token,
      verifier: request.verifier,
      secondVerifier: second.verifier,
      secret: app.client.client_secret,
      registration: app.client.registration_access_token,
      basic: 'c2VjcmV0LWJhc2ljOng=',
      ...Object.fromEntries([...browser.cookies].map(([name, { value }]) => [`cookie ${name}`, value])),
    };
    const data = readdirSync(world.data).map((file) => readFileSync(join(world.data, file), 'latin1'));
    // The access log is complete once the gate has closed.
    await world.close();
    const log = readFileSync(join(folder, 'log'), 'utf8');
    expect(log.split('\n').length).toBeGreaterThan(20);
    expect(data.length).toBeGreaterThan(0);
    const found = Object.entries(minted)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .filter(([, secret]) => [log, ...data].some((text) => text.includes(secret)))
      .map(([name]) => name);
    expect(found).toEqual([]);
    expect(Object.values(minted).filter((secret) => typeof secret === 'string').length).toBeGreaterThan(13);
  });
});
