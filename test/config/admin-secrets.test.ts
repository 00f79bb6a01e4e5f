import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { load, mistakes, SMALL } from './fixture.ts';

const KEY = 'k'.repeat(32);

describe('the credentials for admin commands', () => {
  let authority: Authority;
  let files: Record<string, string>;
  beforeAll(() => {
    authority = createAuthority();
    const [one, other] = [authority.issue('localhost'), authority.issue('localhost')];
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    files = { crt: one.cert, key: one.key, other: other.key, ca: authority.ca, text: 'hello', broken };
  });
  afterAll(() => authority.close());

  it('are empty by default', async () => {
    expect((await load(SMALL)).admin).toEqual({ hmac: [], mtls: undefined });
  });

  it('are secrets or a certificate, which are never printed', async () => {
    const text = `${SMALL}admin:
  hmac: { secret: { env: NEW }, previous: { env: OLD } }
  mtls: { cert: crt, key: key, clientCa: ca }
`;
    const environment = { NEW: `new-${KEY}`, OLD: `old-${KEY}` };
    const { admin, config } = await load(text, { files, environment });
    expect(admin).toEqual({
      hmac: [environment.NEW, environment.OLD],
      mtls: { cert: files.crt, key: files.key, clientCa: files.ca },
    });
    expect(JSON.stringify(config)).not.toMatch(/new-k|PRIVATE/);
  });

  it.each([
    ['hmac: { secret: { env: GATE } }', 'admin.hmac.secret: environment variable GATE is not set'],
    [
      'hmac: { secret: { env: SHORT } }',
      'admin.hmac.secret: environment variable SHORT must have at least 32 characters (openssl rand -base64 32)',
    ],
    ['hmac: { previous: { env: KEY } }', 'admin.hmac.secret: is missing'],
    ['webhooks: { lms: { secret: { env: SHORT }, member: /id, event: revoke } }', 'SHORT must have at least 32'],
    [
      'webhooks: { lms: { secret: { env: KEY }, member: id, event: revoke } }',
      'admin.webhooks.lms.member: must be a JSON pointer',
    ],
    [
      'webhooks: { lms: { secret: { env: KEY }, member: /id, event: delete } }',
      'admin.webhooks.lms.event: must be revoke, suspend or resume, or these by the values at a JSON pointer',
    ],
    [
      'webhooks: { lms: { secret: { env: KEY }, member: /id, event: { /a: { x: revoke }, /b: { y: resume } } } }',
      'admin.webhooks.lms.event: must have one JSON pointer',
    ],
    ['mtls: { cert: crt, key: key }', 'admin.mtls.clientCa: is missing'],
    ['mtls: { cert: crt, key: key, clientCa: none }', 'none cannot be read: there is no such file'],
    ['mtls: { cert: text, key: key, clientCa: ca }', 'admin.mtls.cert: text has no PEM block of the required type'],
    ['mtls: { cert: broken, key: key, clientCa: ca }', 'admin.mtls.cert: has no readable certificate'],
    ['mtls: { cert: crt, key: key, clientCa: broken }', 'admin.mtls.clientCa: has no readable certificate'],
    ['mtls: { cert: crt, key: other, clientCa: ca }', 'admin.mtls.key: is not the key of admin.mtls.cert'],
  ])('%s is reported at its position', async (setting, message) => {
    const environment = { KEY, SHORT: 'k'.repeat(31) };
    const lines = await mistakes(`${SMALL}admin: { ${setting} }\n`, { files, environment });
    expect(lines).toEqual([expect.stringContaining(message)]);
    expect(lines[0]).toMatch(/^gate\.yaml:14:/);
  });
});
