import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, refresh, registerApp } from '../support/app.ts';
import { connect, statusOf } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from './client-documents/support/document-host.ts';

describe.each(['A', 'B'])('the algorithm of ID tokens, in profile %s', (profile) => {
  let host: DocumentHost;
  let world: World;
  beforeAll(async () => {
    host = await startDocumentHost();
    world = await startWorld({ profile, documentNetwork: host.network });
  });
  afterAll(async () => {
    await world.close();
    await host.close();
  });

  const registered = (algorithm?: string): Promise<App> =>
    registerApp(world.origin, algorithm === undefined ? {} : { metadata: { id_token_signed_response_alg: algorithm } });
  /** Verifies an ID token as a client does that accepts this algorithm only. */
  const verified = async (idToken: unknown, algorithm: string, app: App) => {
    const keys = createRemoteJWKSet(new URL(String(app.server.jwks_uri)));
    const expected = { issuer: world.origin, audience: app.client.client_id, algorithms: [algorithm] };
    return (await jwtVerify(String(idToken), keys, expected)).payload;
  };
  const manage = async (app: App, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(String(app.client.registration_client_uri), {
      method: body === undefined ? 'GET' : 'PUT',
      headers: {
        authorization: `Bearer ${app.client.registration_access_token}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };

  it.each([
    [undefined, 'RS256'],
    ['RS256', 'RS256'],
    ['ES256', 'ES256'],
    // Replaced by the default, and told so (RFC 7591 section 3.2.1).
    ['EdDSA', 'RS256'],
    ['none', 'RS256'],
    ['HS256', 'RS256'],
  ])('registered as %s, is %s: after the code, each refresh and a restart', async (asked, algorithm) => {
    const app = await registered(asked);
    expect(app.client.id_token_signed_response_alg).toBe(algorithm);
    expect((await manage(app)).id_token_signed_response_alg).toBe(algorithm);
    const tokens = await connect(app);
    expect(await verified(tokens.id_token, algorithm, app)).toMatchObject({ sub: 'm-1001' });
    const renewed = await refresh(app, String(tokens.refresh_token));
    await verified(renewed.id_token, algorithm, app);
    await world.restart();
    const later = await refresh(app, String(renewed.refresh_token));
    await verified(later.id_token, algorithm, app);
    // The school verifies the assertion, which is ES256 for every app.
    expect(await statusOf(world.origin, later.access_token)).toBe(200);
  });

  it('is kept by an update that names none, and changed by one that does', async () => {
    let app = await registered('ES256');
    for (const [asked, algorithm] of [
      [undefined, 'ES256'],
      ['RS256', 'RS256'],
      [undefined, 'RS256'],
      ['ES256', 'ES256'],
    ]) {
      const { client_id } = app.client;
      const client = await manage(app, {
        client_id,
        redirect_uris: [app.redirectUri],
        ...(asked === undefined ? {} : { id_token_signed_response_alg: asked }),
      });
      expect(client.id_token_signed_response_alg).toBe(algorithm);
      app = { ...app, client: { ...client, client_id } };
      await verified((await connect(app)).id_token, String(algorithm), app);
    }
  });

  it.each([
    [undefined, 'RS256'],
    ['ES256', 'ES256'],
    ['none', 'RS256'],
  ])('in a client metadata document with %s is %s', async (asked, algorithm) => {
    const url = `https://one.example/${asked}.json`;
    host.serve(url, answerJson(plainDocument(url, { id_token_signed_response_alg: asked })));
    const app = { ...(await registered()), client: { client_id: url }, redirectUri: `${new URL(url).origin}/callback` };
    const client = { client_id: url, id_token_signed_response_alg: algorithm };
    const tokens = await connect({ ...app, client });
    expect(decodeProtectedHeader(String(tokens.id_token)).alg).toBe(algorithm);
    await verified(tokens.id_token, algorithm, app);
  });
});
