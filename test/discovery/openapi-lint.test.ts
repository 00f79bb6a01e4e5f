import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { lint } from './support/lint.ts';

type Document = Record<string, unknown> & { paths: Record<string, Record<string, Record<string, unknown>>> };

describe.each([{ profile: 'A' }, { profile: 'B' }])('the OpenAPI document of Profile $profile', ({ profile }) => {
  let world: World;
  let document: Document;
  beforeAll(async () => {
    world = await startWorld({ profile });
    document = (await (await fetch(`${world.origin}/openapi.json`)).json()) as Document;
  });
  afterAll(() => world.close());

  it('passes the linter without findings', async () => {
    expect(await lint(document)).toEqual([]);
  });

  it('is checked by linter rules that can fail', async () => {
    const { '/auth.md': item, ...paths } = document.paths;
    const broken = {
      ...document,
      paths: {
        ...paths,
        '/auth.md/': { get: { ...item?.get, operationId: undefined } },
        '/unsuccessful': {
          get: { ...item?.get, operationId: 'fail', responses: { 400: { description: 'Refused.' } } },
        },
      },
    };
    expect((await lint(broken)).map((one) => one.split(' ', 1)[0]).sort()).toEqual([
      'no-path-trailing-slash',
      'operation-operationId',
      'rule/operation-success-response',
    ]);
  });

  it('names the server and the token types', async () => {
    expect(document.openapi).toBe('3.1.1');
    expect(document.servers).toEqual([{ url: world.origin, description: 'Harbour Lane School' }]);
    const tags = document.tags as readonly { readonly name: string; readonly description: string }[];
    const courses = tags.find(({ name }) => name === 'courses')?.description;
    expect(courses).toContain('Browse the course catalogue');
    expect(tags.filter(({ description }) => description.includes('Browse the course catalogue'))).toHaveLength(1);
    const { securitySchemes } = document.components as { securitySchemes: Record<string, Record<string, unknown>> };
    const metadata = (await (await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      string[] | string
    >;
    const { authorizationCode } = (securitySchemes.oauth2?.flows ?? {}) as Record<string, Record<string, unknown>>;
    expect(authorizationCode).toMatchObject({
      authorizationUrl: metadata.authorization_endpoint,
      tokenUrl: metadata.token_endpoint,
      refreshUrl: metadata.token_endpoint,
    });
    expect(Object.keys(authorizationCode?.scopes as object)).toEqual(metadata.scopes_supported);
    const resource = await (await fetch(`${world.origin}/.well-known/oauth-protected-resource`)).json();
    expect(securitySchemes.oauth2?.['x-read-scopes']).toEqual((resource as typeof metadata).scopes_supported);
    expect(authorizationCode?.scopes).toMatchObject({ 'courses:read': 'Browse the course catalogue' });
    expect(securitySchemes.openIdConnect?.openIdConnectUrl).toBe(`${world.origin}/.well-known/openid-configuration`);
  });

  it('lists for each operation whether a token and a resource are required', () => {
    const { security } = document.paths['/api/v1/courses']?.get ?? {};
    const token = [{ oauth2: ['courses:read'] }, { openIdConnect: ['courses:read'] }];
    expect(security).toEqual(profile === 'A' ? token : [...token, {}]);
    const parameters = document.paths['/oauth/authorize']?.get?.parameters as { name: string; required: boolean }[];
    expect(parameters.find(({ name }) => name === 'resource')?.required).toBe(profile === 'A');
    // A refresh needs no resource.
    expect(document.paths['/api/oauth/token']?.post).toMatchObject({
      requestBody: {
        content: { 'application/x-www-form-urlencoded': { schema: { required: ['grant_type', 'client_id'] } } },
      },
    });
  });

  it('describes every schema that it names', () => {
    const { schemas } = document.components as { schemas: Record<string, { description?: string }> };
    const silent = Object.entries(schemas).filter(([, { description = '' }]) => description === '');
    expect(silent.map(([name]) => name)).toEqual([]);
    expect(schemas.OAuthError?.description).toBe('An OAuth error (RFC 6749 section 5.2).');
  });

  it('describes every property, including all required ones', () => {
    type Schema = { properties?: Record<string, Schema>; items?: Schema; required?: string[] };
    const vague: string[] = [];
    const visit = (schema: Schema, at: string): void => {
      if (Object.keys(schema).length === 0) vague.push(at);
      const { properties, items, required = [] } = schema;
      if (properties !== undefined && Object.keys(properties).length === 0) vague.push(`${at} {}`);
      for (const name of required) if (properties?.[name] === undefined) vague.push(`${at}.${name} is required`);
      for (const [name, inner] of Object.entries(properties ?? {})) visit(inner, `${at}.${name}`);
      if (items !== undefined) visit(items, `${at}[]`);
    };
    const { schemas } = document.components as { schemas: Record<string, Schema> };
    for (const [name, schema] of Object.entries(schemas)) visit(schema, name);
    // JSON-RPC 2.0 section 5.1: the server defines what `data` is.
    expect(vague).toEqual(['JsonRpcError.error.data']);
    // RFC 9457 section 3.1.1.
    expect(schemas.Problem?.properties?.type).toMatchObject({ type: 'string', format: 'uri-reference' });
  });

  it('is identical each time', async () => {
    const first = await (await fetch(`${world.origin}/openapi.json`)).text();
    await world.restart();
    expect(await (await fetch(`${world.origin}/openapi.json`)).text()).toBe(first);
  });
});
