import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../../src/operator/doctor/checks/checks.ts';
import { doctor } from '../../../src/operator/doctor/doctor.ts';
import { exitCode } from '../../../src/operator/doctor/report.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { startWorld, type World } from '../../support/world.ts';
import { BROKEN } from './support/faults.ts';
import { EXAMINED, REFUSED, VERDICTS } from './support/verdicts.ts';
import { verdictsOf } from './support/verdicts-of.ts';

/** Faults that need https are in https.test.ts. */
const ELSEWHERE = ['reach.https', 'reach.http-redirect', 'reach.hsts', 'reach.certificate'];

describe('a deployment with one fault', () => {
  let proxy: FaultProxy;
  let world: World;
  beforeAll(async () => {
    proxy = await startFaultProxy();
    world = await startWorld({
      profile: 'A',
      overrides: { origin: proxy.origin, clients: { registration: { perAddressPerMinute: 100_000 } } },
    });
    proxy.target = world.origin;
  });
  afterAll(async () => {
    await world.close();
    await proxy.close();
  });

  const problems = async () => {
    const report = await doctor({ url: `${proxy.origin}/mcp`, register: true });
    const found = report.findings.filter(({ level }) => level === 'warning' || level === 'failure');
    return { report, found };
  };

  it('has no findings without a fault, also through the proxy', async () => {
    proxy.fault = {};
    const { found, report } = await problems();
    expect(found).toEqual([]);
    expect(exitCode(report)).toBe(0);
    expect(report.leftBehind).toEqual([]);
  });

  it('has no findings with copies of the metadata that are up to date', async () => {
    proxy.fault = {
      fromGate({ headers }, { url }) {
        if (url.pathname.startsWith('/.well-known/')) delete headers['x-request-id'];
      },
    };
    const { found, report } = await problems();
    expect(found).toEqual([]);
    expect(report.findings.find(({ check }) => check === 'server.copy')?.seen).toMatch(
      /oauth-authorization-server, .*oauth-protected-resource: copies, the same/,
    );
  });

  it('keeps no registration, and the report names those that could not be deleted', async () => {
    const clients = new Set<string>();
    const remember: Fault['fromGate'] = ({ status, body }, { method, url }) => {
      if (status === 201) clients.add((JSON.parse(body) as { client_id: string }).client_id);
      if (status === 204 && method === 'DELETE') clients.delete(url.pathname.split('/').at(-1) ?? '');
    };
    proxy.fault = { fromGate: remember };
    expect((await problems()).report.leftBehind).toEqual([]);
    expect(clients).toEqual(new Set());
    proxy.fault = {
      fromGate: remember,
      toGate: ({ method }) => (method === 'DELETE' ? { status: 403, headers: {}, body: '' } : undefined),
    };
    const { report } = await problems();
    expect(report.leftBehind.length).toBeGreaterThan(2);
    expect(new Set(report.leftBehind)).toEqual(clients);
  });

  it.each(BROKEN)('$what is found', async ({ finds, says, fault }) => {
    proxy.fault = fault;
    const { found } = await problems();
    expect([...new Set(found.map(({ check }) => check))].toSorted(), JSON.stringify(found, undefined, 1)).toEqual(
      [...finds].toSorted(),
    );
    const first = found.filter(({ check }) => check === finds[0]);
    if (says !== undefined) expect(first.map(({ seen }) => seen).join('\n')).toMatch(says);
    for (const one of found) expect(one.fix, one.check).toMatch(/.{10,}/);
  });

  it('exists for each check', () => {
    const covered = new Set(BROKEN.flatMap(({ finds }) => finds));
    expect(CHECKS.map(({ id }) => id).filter((id) => !covered.has(id) && !ELSEWHERE.includes(id))).toEqual([]);
  });
});

describe('one check', () => {
  it.each(VERDICTS)('%s, row %#', async (id, known, says) => {
    expect(await verdictsOf(CHECKS, id, known)).toMatch(says);
  });

  it('asks what is listed', async () => {
    const asked: string[] = [];
    const record = async (...all: unknown[]) => {
      asked.push(all.map((one) => JSON.stringify(one, (_name, value) => value ?? 'none')).join(' '));
      return REFUSED;
    };
    const known = {
      ...EXAMINED,
      ask: record,
      askAsIs: record,
      registration: async (changes: unknown = {}) => ({ answer: await record('register', changes) }),
      authorization: {
        good: { answer: REFUSED, goesOn: true },
        request: async (changes: unknown) => ({ answer: await record('authorize', changes), goesOn: false }),
      },
    };
    for (const { id, run } of CHECKS) {
      asked.push('', id);
      await Promise.resolve(known as never)
        .then(run)
        .catch(() => undefined);
    }
    const text = asked
      .join('\n')
      .replace(/x{100,}/g, ({ length }) => `x*${length}`)
      .replace(/("http:..127.0.0.1.\d+",){100,}/g, ({ length }) => `${length} characters, `)
      .replace(/(code_challenge|state)=[\w-]+/g, '$1=...')
      .replace(/(version\\":\\")[^\\]+/g, '$1...');
    await expect(`${text.trim()}\n`).toMatchFileSnapshot('support/questions.txt');
  });
});
