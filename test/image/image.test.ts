import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';
import { type RunningContainer, runInContainer, startContainer } from './support/container.ts';
import { type BuiltImage, buildImage, enginePresent } from './support/engine.ts';

const NOBODY = 65532;
const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** The production packages in the lock file, as `name@version`. */
function locked(): readonly string[] {
  const packages = Object.entries(read('package-lock.json').packages as Record<string, Locked>);
  const needed = packages.filter(([path, one]) => path !== '' && !one.dev && !one.optional && !one.devOptional);
  return [...new Set(needed.map(([path, { version }]) => `${path.split('node_modules/').pop()}@${version}`))].sort();
}

describe.skipIf(!enginePresent())('the image', () => {
  let image: BuiltImage;
  beforeAll(async () => {
    image = await buildImage({ VERSION: '9.8.7', REVISION: 'abcdef0', SOURCE: 'https://school.example/coursegate' });
    const megabytes = (path: string) => execFileSync('du', ['-sm', path], { encoding: 'utf8' }).split('\t')[0];
    console.log(`image: ${megabytes(image.root)} MB, of which ${megabytes(join(image.root, 'app'))} MB are ours`);
  }, 20 * 60_000);
  afterAll(() => image?.remove(), 20 * 60_000);

  const inside = (path: string) => join(image.root, path);

  it('has labels, a user, a command and a health check', () => {
    const { Labels, ...said } = image.configuration;
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'coursegate',
      'org.opencontainers.image.version': '9.8.7',
      'org.opencontainers.image.revision': 'abcdef0',
      'org.opencontainers.image.source': 'https://school.example/coursegate',
      'org.opencontainers.image.licenses': 'MIT',
    });
    expect(said).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['node', '/app/src/main.ts'],
      Cmd: ['serve', '--config', '/etc/coursegate/coursegate.yaml'],
      StopSignal: 'SIGTERM',
      Volumes: { '/var/lib/coursegate': {} },
      ExposedPorts: { '8080/tcp': {} },
    });
    expect(said.Healthcheck.Test).toEqual([
      'CMD',
      'node',
      '/app/src/main.ts',
      'health',
      '--config',
      '/etc/coursegate/coursegate.yaml',
    ]);
  });

  it('has the program’s version by default', () => {
    const { version } = read('package.json') as { version: string };
    expect(readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')).toContain(`ARG VERSION=${version}\n`);
  });

  it('contains no tools to install, build or download with', () => {
    const programs = ['usr/local/sbin', 'usr/local/bin', 'usr/sbin', 'usr/bin', 'sbin', 'bin'].flatMap((folder) =>
      existsSync(inside(folder)) ? readdirSync(inside(folder)) : [],
    );
    expect(programs).toContain('node');
    const unwanted = /^(npm|npx|yarn|yarnpkg|corepack|gcc|g\+\+|cc|c99|make|git|curl|wget|python.*|ld|as)$/;
    expect(programs.filter((name) => unwanted.test(name))).toEqual([]);
    expect(existsSync(inside('usr/local/lib/node_modules'))).toBe(false);
  });

  it('contains exactly the production dependencies of the lockfile', () => {
    expect(installed(inside('app/node_modules'))).toEqual(locked());
    expect(locked().some((name) => name.startsWith('express@'))).toBe(true);
  });

  it('lists its dependencies in an SBOM', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(inside('usr/share/sbom/coursegate.cdx.json'), 'utf8'));
    expect(bomFormat).toBe('CycloneDX');
    const listed = components.map(
      ({ group, name, version }: Record<string, string>) => `${group ? `${group}/` : ''}${name}@${version}`,
    );
    expect([...new Set(listed)].sort()).toEqual(locked());
  });

  it('contains no setuid files, and no writable files of ours', () => {
    const found = (...tests: readonly string[]) => execFileSync('find', tests, { encoding: 'utf8' }).trim();
    expect(found(image.root, '-xdev', '-type', 'f', '-perm', '/6000')).toBe('');
    expect(found(inside('app'), '(', '-uid', String(NOBODY), '-o', '-perm', '-o+w', ')', '-not', '-type', 'l')).toBe(
      '',
    );
    expect(statSync(inside('var/lib/coursegate')).uid).toBe(NOBODY);
  });

  it('contains only what is needed to run', () => {
    expect(readdirSync(inside('app')).sort()).toEqual(
      ['LICENSE', 'bin', 'config', 'integrations', 'node_modules', 'package.json', 'schema', 'src'].sort(),
    );
  });

  describe('running with a read-only file system and one volume', () => {
    let school: RecordingUpstream;
    let folder: string;
    let gate: RunningContainer;
    let port: number;
    let admin: number;
    const mounts = () => ({ '/etc/coursegate:ro': join(folder, 'etc'), '/var/lib/coursegate': join(folder, 'var') });
    const health = () => runInContainer(image, image.configuration.Healthcheck.Test.slice(1), { mounts: mounts() });
    beforeAll(async () => {
      school = await startRecordingUpstream();
      [port, admin] = [await freePort(), await freePort()];
      folder = mkdtempSync(join(tmpdir(), 'coursegate-container-'));
      chmodSync(folder, 0o755);
      for (const name of ['etc', 'var']) mkdirSync(join(folder, name));
      chownSync(join(folder, 'var'), NOBODY, NOBODY);
      writeFileSync(join(folder, 'etc/coursegate.yaml'), stringify(configuration()));
      const started = performance.now();
      gate = startContainer(image, [...image.configuration.Entrypoint, ...image.configuration.Cmd], {
        mounts: mounts(),
      });
      await gate.line(/^coursegate ready /);
      console.log(`image: ready after ${Math.round(performance.now() - started)} ms`);
    }, 120_000);
    afterAll(async () => {
      gate.signal('SIGKILL');
      await gate.exited;
      await school.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const configuration = () => ({
      version: 1,
      profile: 'B',
      origin: `http://localhost:${port}`,
      listen: { host: '127.0.0.1', port, admin: { port: admin }, drain: { notice: '3s', grace: '10s' } },
      store: { kind: 'sqlite', path: '/var/lib/coursegate/coursegate.db' },
      login: {
        kind: 'session',
        upstream: 'school',
        whoami: { path: '/api/me', subject: '/id' },
        loginUrl: '/login',
        cookies: ['school_session'],
      },
      upstreams: { school: { url: school.url } },
      site: { upstream: 'school' },
      mcp: { signIn: 'never' },
    });

    it('runs as an unprivileged user that can write to the volume only', async () => {
      const status = readFileSync(`/proc/${gate.pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
      expect(status).toMatch(/^Gid:\t65532\t65532\t65532\t65532$/m);
      const write = (path: string) =>
        runInContainer(image, ['node', '-e', `require('fs').writeFileSync('${path}', 'x')`], { mounts: mounts() });
      for (const path of ['/x', '/app/x', '/usr/local/bin/x']) {
        const { code, stderr } = await write(path);
        expect([code, stderr.includes('EROFS') || stderr.includes('EACCES')]).toEqual([1, true]);
      }
      expect(await write('/etc/coursegate/x')).toMatchObject({ code: 1 });
      expect(await write('/var/lib/coursegate/x')).toMatchObject({ code: 0 });
      expect(readdirSync(join(folder, 'var'))).toContain('coursegate.db');
    });

    it('is ready, serves its metadata, and forwards site requests', async () => {
      expect((await fetch(`http://127.0.0.1:${admin}/readyz`)).status).toBe(200);
      const metadata = await fetch(`http://localhost:${port}/.well-known/oauth-authorization-server`);
      expect(await metadata.json()).toMatchObject({ issuer: `http://localhost:${port}` });
      await fetch(`http://localhost:${port}/a-page`);
      expect(school.requests.map(({ target }) => target)).toContain('/a-page');
    });

    it('passes its health check', async () => {
      expect(await health()).toMatchObject({ code: 0, stderr: '' });
    });

    it('fails its health check while it drains, and exits 0 on SIGTERM', async () => {
      gate.signal('SIGTERM');
      expect((await health()).code).not.toBe(0);
      expect((await gate.exited).code).toBe(0);
      expect((await health()).code).not.toBe(0);
    });
  });
});

/** The packages in a node_modules folder and in nested ones, as `name@version`. */
function installed(folder: string): readonly string[] {
  const found = new Set<string>();
  const visit = (modules: string) => {
    for (const name of readdirSync(modules).filter((one) => !one.startsWith('.'))) {
      const names = name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name];
      for (const one of names) {
        const { version } = JSON.parse(readFileSync(join(modules, one, 'package.json'), 'utf8')) as { version: string };
        found.add(`${one}@${version}`);
        if (existsSync(join(modules, one, 'node_modules'))) visit(join(modules, one, 'node_modules'));
      }
    }
  };
  visit(folder);
  return [...found].sort();
}
