import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createAuthority } from '../support/certificates.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import type { WatchedProcess } from '../support/watched.ts';
import { freePort } from '../support/world.ts';
import { builtImage, type GateImage } from './support/built-image.ts';
import { type ContainerOptions, runInContainer, startContainer } from './support/container.ts';
import { enginePresent } from './support/engine.ts';

const USER = 65532;
const LONGEST = 20 * 60_000;

describe.skipIf(!enginePresent())('the image', () => {
  let image: GateImage;
  beforeAll(async () => {
    image = await builtImage();
  }, LONGEST);

  const inside = (path: string) => join(image.root, path);
  const found = (...tests: readonly string[]) => execFileSync('find', tests, { encoding: 'utf8' }).trim();
  const bytes = (path: string) => {
    const sizes = found(inside(path), '-type', 'f', '-printf', '%s\\n').split('\n');
    return sizes.reduce((sum, size) => sum + Number(size), 0);
  };

  it('has labels, a user, a command and a health check', () => {
    const { Labels, ...configuration } = image.configuration;
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'coursegate',
      'org.opencontainers.image.version': '9.8.7',
      'org.opencontainers.image.revision': 'abcdef0',
      'org.opencontainers.image.source': 'https://school.example/coursegate',
      'org.opencontainers.image.licenses': 'MIT',
    });
    expect(configuration).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['coursegate'],
      Cmd: ['serve', '--config', '/etc/coursegate/coursegate.yaml'],
      StopSignal: 'SIGTERM',
      Volumes: { '/var/lib/coursegate': {} },
      ExposedPorts: { '8080/tcp': {} },
      Healthcheck: { Test: ['CMD', 'coursegate', 'health', '--config', '/etc/coursegate/coursegate.yaml'] },
    });
  });

  it('has the program’s version by default', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')).toContain(`ARG VERSION=${version}\n`);
  });

  it('takes at most 15 MB beside Node', () => {
    const [whole, node, ours] = ['', 'usr/local/bin/node', 'app'].map(bytes) as [number, number, number];
    console.log(`image: ${whole} bytes, of which Node ${node}, ours ${ours}, libraries ${whole - node - ours}`);
    expect(whole - node).toBeLessThanOrEqual(15_000_000);
  });

  it('contains Node, the gate and the libraries that Node loads, and no other program', () => {
    const programs = found(image.root, '-type', 'f', '-perm', '/111').split('\n');
    expect(programs.map((path) => path.slice(image.root.length).replace('x86_64', 'ARCH')).sort()).toEqual([
      '/usr/lib/ARCH-linux-gnu/ld-linux-x86-64.so.2',
      '/usr/lib/ARCH-linux-gnu/libc.so.6',
      '/usr/local/bin/coursegate',
      '/usr/local/bin/node',
    ]);
    expect(readdirSync(inside('app')).sort()).toEqual(
      ['LICENSE', 'NOTICE', 'config', 'integrations', 'lib', 'package.json', 'sbom.cdx.json', 'schema'].sort(),
    );
  });

  it('says what is in it, for scanners and lawyers', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(inside('app/sbom.cdx.json'), 'utf8'));
    expect([bomFormat, components.length > 50]).toEqual(['CycloneDX', true]);
    expect(readFileSync(inside('app/NOTICE'), 'utf8')).toContain('oidc-provider');
    expect(readdirSync(inside('var/lib/dpkg/status.d'))).toEqual([
      'base-files',
      'gcc-12-base',
      'libc6',
      'libgcc-s1',
      'libstdc++6',
    ]);
    expect(readFileSync(inside('var/lib/dpkg/status.d/libc6'), 'utf8')).toMatch(/^Package: libc6\n(?:.+\n)*Version: 2/);
    expect(readFileSync(inside('usr/share/doc/libc6/copyright'), 'utf8')).toMatch(
      /GNU Lesser General Public\s+License/,
    );
  });

  it('contains no setuid files, and no writable files of ours', () => {
    expect(found(image.root, '-xdev', '-perm', '/6000')).toBe('');
    expect(found(inside('app'), '(', '-uid', String(USER), '-o', '-perm', '-o+w', ')', '-not', '-type', 'l')).toBe('');
    expect(statSync(inside('var/lib/coursegate')).uid).toBe(USER);
  });

  it('has the same layers when its bundle is built in another folder', () => {
    const blob = ({ digest }: { digest: string }) =>
      JSON.parse(readFileSync(join(image.layout, 'blobs', ...digest.split(':')), 'utf8'));
    const [manifest] = JSON.parse(readFileSync(join(image.layout, 'index.json'), 'utf8')).manifests;
    const { rootfs, config, history } = blob(blob(manifest).config);
    expect(rootfs.diff_ids).toEqual(image.layers);
    expect(config.Healthcheck).toEqual(image.configuration.Healthcheck);
    // Buildah's comments name images of this build only.
    expect(JSON.stringify(history)).not.toContain('comment');
  });

  it('runs its commands by name, without a shell', async () => {
    const { code, stdout } = await runInContainer(image, [...image.configuration.Entrypoint, '--version']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)]);
    const checked = await runInContainer(
      image,
      ['coursegate', 'check', '/app/integrations/wordpress/coursegate.yaml'],
      {
        environment: { COURSEGATE_KEY: 'k'.repeat(40), COURSEGATE_ADMIN_SECRET: 's'.repeat(40) },
      },
    );
    expect(checked).toMatchObject({ code: 0 });
  });

  it('trusts public authorities, and a private one that is mounted', async () => {
    const authority = createAuthority();
    const { cert, key } = authority.issue('localhost');
    const server = createServer({ cert, key }, (_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ask = `fetch('https://localhost:${port}').then((a) => a.text()).then(console.log, (e) => console.log(e.cause.code))`;
    const asked = (options?: ContainerOptions) => runInContainer(image, ['node', '-e', ask], options);
    expect((await asked()).stdout).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE\n');
    const mounted = {
      mounts: { '/etc/ca.pem:ro': authority.caFile },
      environment: { NODE_EXTRA_CA_CERTS: '/etc/ca.pem' },
    };
    expect((await asked(mounted)).stdout).toBe('hello\n');
    const count = await runInContainer(image, ['node', '-p', 'tls.rootCertificates.length']);
    expect(Number(count.stdout)).toBeGreaterThan(100);
    server.close();
    authority.close();
  });

  describe('running with a read-only file system and one volume', () => {
    let school: RecordingUpstream;
    let folder: string;
    let gate: WatchedProcess;
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
      chownSync(join(folder, 'var'), USER, USER);
      writeFileSync(join(folder, 'etc/coursegate.yaml'), stringify(configuration()));
      const started = performance.now();
      gate = startContainer(image, [...image.configuration.Entrypoint, ...image.configuration.Cmd], {
        mounts: mounts(),
      });
      await gate.line(/^coursegate ready /);
      console.log(`image: ready after ${Math.round(performance.now() - started)} ms`);
    });
    afterAll(async () => {
      gate?.signal('SIGKILL');
      await gate?.exited;
      await school?.close();
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
      expect(status).toMatch(/^Groups:\t *$/m);
      expect(status).toMatch(/^NSpid:\t\d+\t1$/m);
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
      expect(await gate.exited).toBe(0);
      expect((await health()).code).not.toBe(0);
    });
  });
});
