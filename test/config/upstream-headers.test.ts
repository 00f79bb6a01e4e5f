import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';

const { upstreams, listen } = configSchema.shape;
const problems = (upstream: object) =>
  upstreams.safeParse({ school: { url: 'http://127.0.0.1:4000', ...upstream } }).error?.issues.length ?? 0;

describe('the header settings of an upstream', () => {
  it.each(['X-Member-Id', 'x_member_id', 'X-Forwarded-For', 'Authorization', 'Cookie', 'Connection', 'Host', 'DPoP'])(
    '%s can never be allowed',
    (name) => expect(problems({ headers: { request: { allow: [name] } } })).toBe(1),
  );

  it('other headers can be allowed, and any can be dropped', () => {
    const request = { allow: ['X-Tenant', 'x-api-key'], drop: ['User-Agent', 'Cookie'] };
    expect(problems({ headers: { request, response: { drop: ['X-Node'] } }, aliases: ['app.internal:8080'] })).toBe(0);
  });

  it.each(['http://app.internal', 'app.internal/x', 'a b', ''])('%j is not a valid host', (alias) =>
    expect(problems({ aliases: [alias] })).toBe(1),
  );
});

it.each(['0.0.0.0/0', '::/0', 'proxy.internal', '10.0.0.0/33'])('%s is refused as a trusted proxy', (entry) => {
  expect(listen.safeParse({ trustedProxies: [entry] }).success).toBe(false);
});
