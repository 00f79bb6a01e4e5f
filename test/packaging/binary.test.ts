import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { KINDS } from '../operator/setup/sites.ts';
import { bearer } from '../support/app.ts';
import { createAuthority } from '../support/certificates.ts';
import { offeredScopes, reachConsent } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';
import { builderPresent, builtArtefacts } from './support/artefacts.ts';
import { type EmptyRoot, emptyRoot, mountsPermitted } from './support/empty-root.ts';
import { readAsMember } from './support/read-as-member.ts';
import { type SchoolConfig, writeSchoolConfig } from './support/school-config.ts';

const BUILDING = 10 * 60_000;

describe.skipIf(!builderPresent() || !mountsPermitted())('the single binary', () => {
  let artefacts: Awaited<ReturnType<typeof builtArtefacts>>;
  let school: RecordingUpstream;
  const roots: EmptyRoot[] = [];
  const rootFor = (processor: 'x64' | 'arm64', certificates?: string) => {
    const root = emptyRoot(join(artefacts.binaries, `coursegate-linux-${processor}`), processor, certificates);
    roots.push(root);
    return root;
  };

  beforeAll(async () => {
    artefacts = await builtArtefacts();
    school = await startRecordingUpstream((request, response) => {
      const known = /^\/(?:api|shop|welcome)\b/.test(request.url ?? '');
      response.writeHead(known ? 200 : 404, { 'content-type': 'text/plain' }).end(known ? 'the school' : 'nothing');
    });
  }, BUILDING);
  afterEach(() => {
    for (const root of roots.splice(0)) root.remove();
  });
  afterAll(() => school?.close());

  it.each([
    ['x64', 'libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 ld-linux-x86-64.so.2'],
    ['arm64', 'libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 ld-linux-aarch64.so.1 qemu'],
  ] as const)(
    'for %s checks and serves in a root with nothing but glibc and certificates',
    async (processor, others) => {
      const root = rootFor(processor, 'no certificate\n');
      const files = readdirSync(root.path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
      expect(files.map(({ name }) => name).sort()).toEqual(
        ['coursegate', 'ca-certificates.crt', ...others.split(' ')].sort(),
      );
      expect(await root.run(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
      const { origin, file, environment } = await writeSchoolConfig(root.path, school.url);
      expect(await root.run(['check', file], environment)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^\/data\/coursegate\.yaml: valid/),
      });
      const gate = root.start(['serve', '--config', file], environment);
      await gate.line(/coursegate ready/);
      expect(await (await fetch(`${origin}/welcome`)).text()).toBe('the school');
      gate.signal('SIGTERM');
      expect(await gate.exited).toBe(0);
    },
  );

  it('uses the libstdc++ of a system that has one', async () => {
    const root = rootFor('x64');
    const folder = join(root.path, 'usr/lib/x86_64-linux-gnu');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'libstdc++.so.6'), 'no library');
    const broken = await root.run(['--version']);
    expect([broken.code, broken.stderr]).toEqual([127, expect.stringContaining('/libstdc++.so.6: file too short')]);
    const libraries = loaded(process.pid, /\/(?:libstdc\+\+|libgcc_s)\.so\S*$/);
    for (const path of libraries) copyFileSync(path, join(folder, basename(path).replace(/(\.so\.\d+).*/, '$1')));
    expect(await root.run(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' });
  });

  it('says what is missing in a root without a libstdc++ and without /proc', () => {
    const { path } = rootFor('x64');
    const { status, stderr } = spawnSync('chroot', [path, '/coursegate', '--version'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      127,
      'coursegate: this system has no libstdc++.so.6: install it, or mount /proc\n',
    ]);
  });

  it('takes options of Node from the environment', async () => {
    const refused = await rootFor('x64').run(['--version'], { NODE_OPTIONS: '--max-old-space-sizes=100' });
    expect([refused.code, refused.stderr]).toEqual([9, expect.stringContaining('is not allowed in NODE_OPTIONS')]);
  });

  it.each(['postgres', 'mysql'])('has the driver of %s', async (kind) => {
    const root = rootFor('x64');
    const { file, environment } = await writeSchoolConfig(root.path, school.url);
    const gate = root.start(['serve', '--config', file], { ...environment, MEMBERS: `${kind}://reader@127.0.0.1:1/x` });
    await gate.line(/coursegate ready/);
    gate.signal('SIGTERM');
    expect(await gate.exited).toBe(0);
  });

  it('inspects a site whose certificate the system trusts, and brings configuration and drop-ins along', async () => {
    const authority = createAuthority();
    const site = createServer(authority.issue('127.0.0.1'), (request, response) => {
      const page = KINDS.wordpress?.[request.url?.split('?')[0] ?? ''];
      if (page === undefined) response.writeHead(404).end();
      else page(request, response);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const args = [
      'init',
      '--upstream',
      `https://127.0.0.1:${(site.address() as AddressInfo).port}`,
      '--dir',
      '/data/gate',
    ];
    try {
      const distrusted = await rootFor('x64').run([...args, '--origin', 'https://school.example']);
      expect([distrusted.code, distrusted.stdout]).toEqual([1, '']);
      const root = rootFor('x64', authority.ca);
      const written = await root.run([...args, '--origin', 'https://school.example'], { TMPDIR: '/data' });
      expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining('Framework: wordpress') });
      expect(written.stdout).toMatch(/^\/data\/gate\/drop-in\/\S+\.php$/m);
      expect(await root.run(['check', '/data/gate/coursegate.yaml'])).toMatchObject({ code: 0 });
    } finally {
      authority.close();
      site.close();
    }
  });

  describe('with a store, a database of members, and a gateway that asks', () => {
    let root: EmptyRoot;
    let config: SchoolConfig;
    let gate: ReturnType<EmptyRoot['start']>;
    beforeAll(async () => {
      root = emptyRoot(join(artefacts.binaries, 'coursegate-linux-x64'), 'x64');
      config = await writeSchoolConfig(root.path, school.url);
      gate = root.start(['serve', '--config', config.file], config.environment);
      await gate.line(/coursegate ready/);
    });
    afterAll(async () => {
      gate.signal('SIGKILL');
      await gate.exited;
      root.remove();
    });

    it.each([
      ['bcrypt', 'sam@school.test', '1001'],
      ['phpass', 'olu@school.test', '1002'],
    ])('signs members in by a hash of %s, and decides for them, also for a gateway', async (_scheme, username, id) => {
      expect((await fetch(`${config.origin}/api/v1/courses/7`)).status).toBe(401);
      expect(await readAsMember(config, username)).toEqual({ status: 200, decided: { status: 200, member: id } });
      expect(school.last().values('x-member-id')).toEqual([id]);
    });

    it('uses its own copies of libstdc++ and libgcc, which the root has not', () => {
      expect(loaded(gate.pid).map((path) => basename(path))).toEqual([
        'memfd:coursegate',
        ...['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'],
      ]);
    });

    it('is green to the doctor', async () => {
      const report = await root.run(['doctor', config.origin, '--json']);
      const { findings } = JSON.parse(report.stdout) as { findings: { level: string; check: string; seen: string }[] };
      expect(findings.filter(({ level }) => level === 'failure')).toEqual([]);
      expect(report.code).toBe(0);
    });

    it('finds damage in a large store when it starts', async () => {
      gate.signal('SIGTERM');
      expect(await gate.exited).toBe(0);
      const path = join(root.path, 'data/gate.db');
      const store = new DatabaseSync(path);
      store.exec('create table padding (text); begin');
      const insert = store.prepare('insert into padding values (?)');
      for (let row = 0; row < 10_000; row += 1) insert.run('x'.repeat(4000));
      store.exec('commit; pragma wal_checkpoint(truncate)');
      store.close();
      gate = root.start(['serve', '--config', config.file], config.environment);
      await gate.line(/coursegate ready/);
      gate.signal('SIGTERM');
      expect(await gate.exited).toBe(0);

      const garbled = readFileSync(path);
      const page = 4096 * Math.floor(garbled.length / 2 / 4096);
      writeFileSync(path, garbled.fill(0xa5, page, page + 4096));
      gate = root.start(['serve', '--config', config.file], config.environment);
      const ended = gate.exited.then((code) => {
        expect(code).toBe(1);
        expect(gate.stderr()).toMatch(/^The store \/data\/gate\.db is damaged \(/m);
      });
      // On a busy machine, the check ends after the start. Then nothing is answered from the store.
      const unavailable = vi.waitFor(
        async () => {
          const asked = await fetch(`${config.origin}/api/v1/courses/7`, { headers: bearer('A'.repeat(43)) });
          expect(asked.status).toBe(503);
        },
        { timeout: 60_000, interval: 100 },
      );
      await Promise.race([ended, unavailable]);
    });
  });

  it('runs the demo, to which an app can connect', async () => {
    const root = rootFor('x64');
    // The one name that the demo uses, as every system has it.
    mkdirSync(join(root.path, 'etc'), { recursive: true });
    writeFileSync(join(root.path, 'etc/hosts'), '127.0.0.1 localhost\n');
    const [PORT, ADMIN_PORT, CLIENT_PORT] = (await Promise.all([freePort(), freePort(), freePort()])).map(String);
    const demo = root.start(['demo'], { PORT, ADMIN_PORT, CLIENT_PORT, SCHOOL_PORT: '0' } as Record<string, string>);
    const ready = await demo.line(/^coursegate ready/);
    expect(ready).toBe(`coursegate ready http://localhost:${PORT} profile=A`);
    const app = root.start(['connect', `http://localhost:${PORT}`, '--no-browser']);
    const address = () => /^ {2}(http:\/\/127\.0\.0\.1:\d+\/)$/m.exec(app.stderr())?.[1];
    const { browser, page } = await reachConsent((await vi.waitUntil(address, { timeout: 30_000 })) ?? '');
    await browser.submit(page, { decision: 'approve', scope: offeredScopes(page) });
    expect(await app.exited).toBe(0);
    expect(app.stderr()).toMatch(/✓ Everything works\.\n$/);
    demo.signal('SIGTERM');
    expect(await demo.exited).toBe(0);
  });
});

/** The paths of the files that a process has mapped, as far as they match. */
function loaded(pid: number | undefined, pattern = /\/(?:lib\w[^/]*\.so\S*|memfd:\S+)/): readonly string[] {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
  const paths = maps.split('\n').flatMap((line) => /\/.*$/.exec(line.replace(' (deleted)', ''))?.[0] ?? []);
  return [...new Set(paths.filter((path) => pattern.test(path)))].toSorted();
}
