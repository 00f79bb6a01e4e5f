import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { createLog } from '../../src/operations/log.ts';

function written(what: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-log-'));
  try {
    createLog('debug', openSync(join(folder, 'log'), 'a')).error(what, 'it happened');
    return readFileSync(join(folder, 'log'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const CODE = 'PK8YpqXn4fXSuI9hcRfhFs5frzfHdTD6JSk_39CigwZ';

it('the log includes the code of an error', () => {
  const ours = written({ err: new GatewayError('upstream_unreachable') });
  expect(JSON.parse(ours).err.error_code).toBe('upstream_unreachable');
  const system = written({ err: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
  expect(JSON.parse(system).err.error_code).toBe('ECONNREFUSED');
});

it.each([
  [{ code: 'upstream_unreachable' }],
  [{ params: { code: 'upstream_unreachable' } }],
  [{ err: Object.assign(new Error('refused'), { code: CODE }) }],
  [{ err: Object.assign(new Error('refused'), { code: CODE.toLowerCase() }) }],
  [{ err: Object.assign(new Error('refused'), { code: 'a'.repeat(43) }) }],
  [{ err: Object.assign(new Error('refused'), { token: 'upstream_unreachable' }) }],
])('the log redacts values that could be an authorization code or a token: %j', (what) => {
  const line = written(what);
  expect(line).toContain('"(secret)"');
  for (const secret of [CODE, CODE.toLowerCase(), 'upstream_unreachable', 'a'.repeat(43)]) {
    expect(line).not.toContain(secret);
  }
});
