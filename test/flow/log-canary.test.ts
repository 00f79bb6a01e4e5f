import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { gateProcess } from '../faults/gate-process.ts';
import { authorizationRequest, bearer, introspect, postForm, redeem, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET, command, commandSignature, send } from '../support/commands.ts';
import { approved, refreshForm, token } from '../support/connection.ts';
import { approve, SAM } from '../support/member.ts';

/**
 * A text that cannot appear in a log by chance. It looks like a word, so that nothing redacts it for looking like a
 * secret.
 */
const canary = (name: string) => `canary-${name}-${randomBytes(4).toString('hex').replaceAll(/\d/g, 'g')}`;

it('the debug log of a whole flow has no secret on either stream', async () => {
  const gate = await gateProcess({
    environment: {
      COURSEGATE__LOG__LEVEL: 'debug',
      COURSEGATE__LOG__ACCESS: 'true',
      COURSEGATE__ADMIN__HMAC__SECRET: '{ env: COMMAND_SECRET }',
      COMMAND_SECRET,
    },
  });
  const secrets = new Map<string, string>();
  const keep = (name: string, value: unknown): string => {
    expect(value, name).toEqual(expect.stringMatching(/.{8}/));
    secrets.set(name, String(value));
    return String(value);
  };
  try {
    await gate.start();
    const app = await registerApp(gate.origin, { confidential: true });
    keep('client_secret', app.client.client_secret);
    const access = keep('registration_access_token', app.client.registration_access_token);
    await fetch(String(app.client.registration_client_uri), { headers: bearer(access) });
    await fetch(String(app.client.registration_client_uri), {
      headers: bearer(keep('wrong registration', canary('registration'))),
    });

    const asked = {
      state: keep('state', canary('state')),
      login_hint: keep('login_hint', `${canary('hint')}@school.example`),
    };
    const browser = createBrowser();
    const request = await authorizationRequest(app, asked);
    keep('verifier', request.verifier);
    keep('challenge', new URL(request.url).searchParams.get('code_challenge'));
    const returned = await approve(request.url, app.redirectUri, { browser });
    keep('code', returned.searchParams.get('code'));
    for (const [name, { value }] of browser.cookies) if (value.length >= 8) keep(`cookie ${name}`, value);
    const tokens = await redeem(app, { ...request, state: asked.state }, returned);
    keep('access_token', tokens.access_token);
    keep('refresh_token', tokens.refresh_token);

    // Right and wrong values, at every endpoint that takes a secret.
    const { form } = await approved(app);
    keep('second code', form.code);
    await token(app, { ...form, code_verifier: keep('wrong verifier', `${canary('verifier')}-${'v'.repeat(43)}`) });
    await token(app, { ...form, client_secret: keep('wrong client_secret', canary('secret')) });
    await token(app, form, { authorization: `Basic ${keep('basic', canary('basic'))}` });
    const { body: fresh } = await token(app, form);
    const { body: renewed } = await token(app, refreshForm(app, fresh.refresh_token));
    await token(app, refreshForm(app, fresh.refresh_token));
    await token(app, refreshForm(app, keep('no refresh_token', canary('refresh'))));
    for (const [name, value] of Object.entries({
      ...fresh,
      ...Object.fromEntries(Object.entries(renewed).map(([n, v]) => [`new ${n}`, v])),
    }))
      if (/token$/.test(name)) keep(`redeemed ${name}`, value);
    await introspect(app, tokens.access_token);
    const shown = [bearer(tokens.access_token), bearer(keep('no access_token', canary('access')))];
    for (const headers of [
      ...shown,
      { cookie: `school_session=${keep('cookie', canary('cookie'))}` },
      { dpop: keep('dpop', canary('dpop')) },
    ]) {
      for (const path of [
        '/api/oauth/userinfo',
        '/api/v1/courses',
        '/account/graphql',
        '/mcp',
        '/elsewhere',
        '/api/v1/WHOAMI',
      ])
        await (
          await fetch(`${gate.origin}${path}?access_token=${tokens.access_token}&code=${form.code}`, { headers })
        ).text();
    }
    await fetch(`${gate.origin}/reset/${tokens.access_token}`);
    await fetch(
      `${gate.origin}/oauth/authorize?client_id=nobody&nonce=${keep('nonce', canary('nonce'))}&state=${keep('refused state', canary('refused'))}`,
    );
    await postForm(`${gate.origin}/login`, { login: SAM.login, password: keep('password', canary('password')) });
    await fetch(`${gate.origin}/mcp`, {
      method: 'POST',
      headers: {
        ...bearer(tokens.access_token),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'search_courses', arguments: { query: keep('argument', canary('argument')) } },
      }),
    });
    keep('command secret', COMMAND_SECRET);
    await command(gate.admin, '/members/m-1001/suspend', { body: '{"by":"operator","reason":"refund"}' });
    await command(gate.admin, '/members/m-1001/resume');
    await send(
      gate.admin,
      '/members/m-1001/revoke',
      {},
      {
        'coursegate-signature': keep('signature', commandSignature('/members/m-1001/revoke', { secret: 'wrong' })),
      },
    );
    await revoke(app, String(tokens.refresh_token));
    await (await fetch(`${gate.origin}/the-end`)).text();

    await expect.poll(() => gate.output(), { timeout: 60_000 }).toContain('"path":"/the-end"');
    const output = gate.output();
    expect([...secrets].filter(([, secret]) => output.includes(secret)).map(([name]) => name)).toEqual([]);
    expect(secrets.size).toBeGreaterThan(25);
    // The events were logged all the same.
    for (const told of ['"verdict":"refused"', '"event.action":"token_refreshed"', '"event.action":"command_refused"'])
      expect(output).toContain(told);
  } finally {
    await gate.close();
  }
});
