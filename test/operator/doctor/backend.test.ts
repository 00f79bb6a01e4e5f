import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import { examineBackend } from '../../../src/operator/doctor/backend/backend-doctor.ts';
import { BACKEND_CHECKS } from '../../../src/operator/doctor/backend/checks/checks.ts';
import type { AdminAccess } from '../../../src/operator/doctor/backend/installation.ts';
import { exitCode, type Report } from '../../../src/operator/doctor/report.ts';
import { toText } from '../../../src/operator/doctor/report-text.ts';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../../authorization-server/client-documents/support/document-host.ts';
import { COMMAND_SECRET, command } from '../../support/commands.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { runToEnd } from '../../support/operator.ts';
import { startWorld, type World } from '../../support/world.ts';
import { BROKEN_BACKENDS, RECHECK_KEY, recheckAnswer } from './support/backend-faults.ts';
import { BACKEND_VERDICTS } from './support/backend-verdicts.ts';
import { verdictsOf } from './support/verdicts-of.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));
const MEMBER = 'm-1001';
const SECRETS = { COMMAND_SECRET, RECHECK_KEY };
/** Checks that connectors.test.ts, sign-in.test.ts, client-documents.test.ts and tool-server-import.test.ts find faults by. */
const ELSEWHERE = BACKEND_CHECKS.map(({ id }) => id).filter((id) =>
  /^(member\.|upstream\.tools|gate\.client-documents|signin\.(bridge|refused|unsigned|providers|client|proxy))/.test(
    id,
  ),
);

/** The admin listener of a world, with a secret. */
const adminOf = (address: string, secret = COMMAND_SECRET): AdminAccess => ({
  address,
  async ask(path) {
    const response = await fetch(address + path);
    return { status: response.status, text: await response.text() };
  },
  async command<T>(method: 'GET' | 'POST', path: string, body?: object) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await command(address, path, { method, secret, ...sent });
    if (answer.status !== 200) throw new Error(`The gate refused this command: ${answer.body.title}`);
    return answer.body as T;
  },
});

describe('the checks from the side of the gate', () => {
  let proxy: FaultProxy;
  let world: World;
  let loaded: LoadedConfig;
  let documents: DocumentHost;
  beforeAll(async () => {
    proxy = await startFaultProxy();
    documents = await startDocumentHost();
    const url = 'https://claude.ai/oauth/claude-code-client-metadata';
    documents.serve(url, answerJson(plainDocument(url)));
    const overrides = {
      admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
      login: {
        recheck: {
          upstream: 'school',
          path: '/internal/members/{member.id}',
          key: { header: 'Coursegate-Key', secret: { env: 'RECHECK_KEY' } },
          active: '/active',
        },
      },
      upstreams: { school: { url: proxy.origin } },
    };
    world = await startWorld({ profile: 'A', environment: SECRETS, overrides });
    const { urls } = world.school;
    proxy.target = urls.school;
    loaded = await loadConfig({
      file: CONFIG,
      environment: {
        COURSEGATE_PROFILE: 'A',
        PORT: new URL(world.origin).port,
        COURSEGATE_DATA: world.data,
        ...SECRETS,
      },
      overrides: {
        ...overrides,
        upstreams: { ...overrides.upstreams, progress: { url: urls.progress }, events: { url: urls.events } },
        // As in every world. They are named in /auth.md.
        limits: { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' },
      },
    });
  });
  afterAll(async () => {
    await world?.close();
    await proxy.close();
    await documents.close();
  });

  const examine = (fault: FaultProxy['fault'] = {}, more: Partial<Parameters<typeof examineBackend>[0]> = {}) => {
    proxy.fault = { ...fault, toGate: (passing) => fault.toGate?.(passing) ?? recheckAnswer(passing) };
    // That one starts a gate of its own, which takes as long as all others together.
    const skip = ['gate.documents'];
    const { network } = documents;
    return examineBackend({ loaded, admin: adminOf(world.admin), member: MEMBER, skip, network, ...more });
  };
  const problemsOf = ({ findings }: Report) =>
    findings.filter(({ level }) => level === 'warning' || level === 'failure');
  const levelOf = ({ findings }: Report, id: string) => findings.find(({ check }) => check === id)?.level;

  it('report nothing about the demo, and pass without a member too', async () => {
    const report = await examine();
    expect(problemsOf(report)).toEqual([]);
    expect(exitCode(report)).toBe(0);
    expect(report.findings.filter(({ level }) => level === 'skipped').map(({ check }) => check)).toEqual([
      'signin.cookies',
    ]);
    const { network } = documents;
    const { member: _, ...without } = { loaded, admin: adminOf(world.admin), member: MEMBER, network };
    const anonymous = await examineBackend({ ...without, skip: ['gate.documents'] });
    expect(problemsOf(anonymous)).toEqual([]);
    expect(levelOf(anonymous, 'assertion.accepted')).toBe('pass');
    expect(levelOf(anonymous, 'recheck.member')).toBe('skipped');
  });

  it.each(BROKEN_BACKENDS)('find $what', async ({ finds, says, advises, fault }) => {
    const found = problemsOf(await examine(fault));
    expect([...new Set(found.map(({ check }) => check))].toSorted(), JSON.stringify(found, undefined, 1)).toEqual(
      [...finds].toSorted(),
    );
    const first = found.filter(({ check }) => check === finds[0]);
    if (says !== undefined) expect(first.map(({ seen }) => seen).join('\n')).toMatch(says);
    if (advises !== undefined) expect(first[0]?.fix).toMatch(advises);
  });

  it('find documents of another configuration, whoever serves them', async () => {
    const only = { only: ['gate.documents'], skip: [] };
    expect(levelOf(await examine({}, only), 'gate.documents')).toBe('pass');
    const config = { ...loaded.config, name: 'Another School' };
    const found = problemsOf(await examine({}, { loaded: { ...loaded, config }, ...only })).map(({ seen }) => seen);
    expect(found).toContain('/.well-known/oauth-protected-resource is not that of this configuration');
    expect(found).not.toContain('/.well-known/oauth-authorization-server is not that of this configuration');
  });

  it('recommend pages.origin, and find a host that serves more than the pages', async () => {
    const pages = { only: ['gate.pages'], skip: [] };
    const shared = await examine({}, pages);
    expect(shared.findings).toMatchObject([
      { level: 'pass', seen: expect.stringContaining('Recommended: pages.origin') },
    ]);
    // The running gate has its pages at `origin`, so this host is another name of it.
    const origin = world.origin.replace('localhost', '127.0.0.1');
    const config = { ...loaded.config, pages: { ...loaded.config.pages, origin } };
    const found = problemsOf(await examine({}, { loaded: { ...loaded, config }, ...pages })).map(({ seen }) => seen);
    expect(found).toContain(`${origin}/.well-known/oauth-authorization-server answers 200 instead of 404`);
    expect(found).toContain(`${world.origin}/oauth/authorize does not redirect to ${origin}`);
    let apart = '';
    const other = await startWorld({
      profile: 'A',
      adjust: (config) => {
        apart = config.origin.replace('localhost', '127.0.0.1');
        return { ...config, pages: { ...config.pages, origin: apart } };
      },
    });
    try {
      const served = { ...config, origin: other.origin, pages: { ...config.pages, origin: apart } };
      const report = await examine({}, { loaded: { ...loaded, config: served }, ...pages });
      expect(report.findings).toMatchObject([{ level: 'pass', seen: `${apart} serves them, and nothing else` }]);
    } finally {
      await other.close();
    }
  });

  it('find an upstream that nothing listens at, and say where', async () => {
    const upstreams = { ...loaded.config.upstreams };
    const { events } = upstreams;
    if (events === undefined) throw new Error('the demo has an upstream for events');
    const config = { ...loaded.config, upstreams: { ...upstreams, events: { ...events, url: 'http://127.0.0.1:1' } } };
    const report = await examine({}, { loaded: { ...loaded, config }, only: ['upstream'] });
    expect(problemsOf(report)).toMatchObject([
      { check: 'upstream.reachable', seen: 'events: http://127.0.0.1:1/: nothing is listening there' },
    ]);
  });

  it('report an upstream that is down once, and skip what needs it', async () => {
    const { school } = loaded.config.upstreams;
    if (school === undefined) throw new Error('the demo has a school');
    const upstreams = { ...loaded.config.upstreams, school: { ...school, url: 'http://127.0.0.1:1' } };
    const report = await examine({}, { loaded: { ...loaded, config: { ...loaded.config, upstreams } } });
    expect(problemsOf(report)).toMatchObject([
      { check: 'upstream.reachable', seen: 'school: http://127.0.0.1:1/: nothing is listening there' },
    ]);
    for (const id of ['whoami.anonymous', 'whoami.stranger', 'whoami.not-cached', 'recheck.unknown', 'recheck.member'])
      expect(report.findings.find(({ check }) => check === id)).toMatchObject({
        level: 'skipped',
        seen: 'the upstream school does not answer',
      });
    expect(toText(report, { width: 80, colour: false })).not.toContain('Is the gate running?');
  });

  it('find a gate that is not running, and an admin secret that it does not accept', async () => {
    const stopped = await examine({}, { admin: adminOf('http://127.0.0.1:1'), only: ['gate', 'assertion'] });
    expect(problemsOf(stopped)).toMatchObject([
      { check: 'gate.running', seen: 'no gate answers at http://127.0.0.1:1', fix: expect.stringMatching(/^Start it/) },
    ]);
    expect(levelOf(stopped, 'assertion.forged')).toBe('skipped');
    const wrong = await examine({}, { admin: adminOf(world.admin, 'another secret'), only: ['gate', 'assertion'] });
    expect(problemsOf(wrong)).toMatchObject([{ check: 'gate.commands', seen: expect.stringMatching(/signature/) }]);
    expect(levelOf(wrong, 'assertion.forged')).toBe('skipped');
  });

  it('ask for the ID of a member if a backend shows nothing without one', async () => {
    const refusing = BROKEN_BACKENDS.find(({ what }) => what === 'a drop-in that refuses every assertion');
    const { member: _, ...without } = { loaded, admin: adminOf(world.admin), member: MEMBER };
    proxy.fault = refusing?.fault ?? {};
    const report = await examineBackend({ ...without, only: ['assertion.accepted'] });
    expect(report.findings).toMatchObject([{ level: 'pass', seen: expect.stringMatching(/^school: .* --member; /) }]);
    const text = toText(report, { width: 120, colour: false });
    expect(text).toContain(
      '\nSome checks show more with the ID of a member, such as your own. Name one with --member.\n',
    );
  });

  it('never print an assertion, though a backend repeats it', async () => {
    const seen: string[] = [];
    const fault: FaultProxy['fault'] = {
      toGate: ({ headers }) => {
        const assertion = headers['x-coursegate-assertion'];
        if (typeof assertion !== 'string') return undefined;
        seen.push(assertion);
        const body = JSON.stringify({ error: `not valid: ${assertion}` });
        return { status: 401, headers: { 'content-type': 'application/json' }, body };
      },
    };
    const printed = JSON.stringify(await examine(fault));
    expect(seen.length).toBeGreaterThan(3);
    expect(printed).toContain('not valid: …');
    for (const part of seen.flatMap((one) => one.split('.'))) expect(printed).not.toContain(part);
    expect(printed).not.toContain(RECHECK_KEY);
    expect(printed).not.toContain(COMMAND_SECRET);
  });

  it('have a fault for each check', () => {
    const covered = new Set([
      ...BROKEN_BACKENDS.flatMap(({ finds }) => finds),
      'gate.running',
      'gate.commands',
      'gate.documents',
      'gate.pages',
    ]);
    expect(BACKEND_CHECKS.map(({ id }) => id).filter((id) => !covered.has(id) && !ELSEWHERE.includes(id))).toEqual([]);
  });

  it('run with `coursegate doctor --config`, alone and with a URL', async () => {
    proxy.fault = { toGate: recheckAnswer };
    const { urls } = world.school;
    const environment = {
      ...SECRETS,
      COURSEGATE_PROFILE: 'A',
      PORT: new URL(world.origin).port,
      COURSEGATE_DATA: world.data,
      COURSEGATE__ADMIN__HMAC__SECRET__ENV: 'COMMAND_SECRET',
      COURSEGATE__UPSTREAMS__SCHOOL__URL: proxy.origin,
      COURSEGATE__UPSTREAMS__PROGRESS__URL: urls.progress,
      COURSEGATE__UPSTREAMS__EVENTS__URL: urls.events,
    };
    const args = [
      'doctor',
      '--skip',
      'gate.documents,gate.client-documents',
      '--config',
      CONFIG,
      '--admin',
      world.admin,
    ];
    const alone = await runToEnd([...args, '--member', MEMBER], environment);
    // On a slow machine, lines about the progress follow.
    expect([alone.code, alone.stderr.split('\n', 1)]).toEqual([
      0,
      [`Checking the backend of ${world.origin} from the side of the gate …`],
    ]);
    expect(alone.stdout).toMatch(/^✓ whoami: \d+ checks passed$/m);
    expect(alone.stdout).toMatch(/0 failures, 0 warnings, \d+ passed, 1 skipped/);
    const both = await runToEnd(
      [...args, `${world.origin}/mcp`, '--only', 'whoami,reach.https', '--json'],
      environment,
    );
    const { findings } = JSON.parse(both.stdout) as Report;
    expect(findings.map(({ check }) => check)).toEqual([
      'reach.https',
      'whoami.anonymous',
      'whoami.stranger',
      'whoami.not-cached',
    ]);
    expect(both.code).toBe(0);
  });
});

it.each(BACKEND_VERDICTS)('of one answer, %s says what is right, row %#', async (id, known, says) => {
  expect(await verdictsOf(BACKEND_CHECKS, id, known)).toMatch(says);
});

it.each([
  [['--member', '17'], '--member needs --config.'],
  [['--config', CONFIG, '--register'], '--register needs a URL.'],
  [['--config', CONFIG, '--gateway', 'http://x.test', '--echo', '/x'], '--gateway takes neither'],
  [['--config', CONFIG, '--only', 'nonsense'], 'There is no check "nonsense".'],
])('coursegate doctor %j exits 64', async (args, says) => {
  const { code, stderr } = await runToEnd(['doctor', ...args]);
  expect([code, stderr]).toEqual([64, expect.stringContaining(says)]);
});
