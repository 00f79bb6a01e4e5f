import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDebianPackages } from '../../packaging/debian/build.ts';
import { type Debian, debianPresent, startDebian } from '../support/debian.ts';
import { builderPresent, builtArtefacts } from './support/artefacts.ts';

const NEWER = '999.0.0';
const CONFIGURATION = '/etc/coursegate/coursegate.yaml';
const SCHOOL = fileURLToPath(new URL('support/school.ts', import.meta.url));
const APP = fileURLToPath(new URL('support/app.ts', import.meta.url));

/** For the demo's school, which signs members in through the gate. */
const CONFIG = `version: 1
profile: B
origin: http://localhost:8080
store: { kind: sqlite, path: /var/lib/coursegate/coursegate.db }
secret: { file: /etc/coursegate/secret }
upstreams: { school: { url: http://127.0.0.1:8000 } }
site: { upstream: school }
login:
  kind: session
  upstream: school
  whoami: { path: /api/me, subject: /id }
  loginUrl: /login
  returnParam: return_to
  cookies: [school_session]
routes:
  - { match: "GET /api/v1/courses/**", upstream: school, scopes: [courses:read] }
`;

interface Connected {
  readonly status: number;
  readonly client_id: string;
  readonly refresh_token: string;
}

describe.skipIf(!debianPresent() || !builderPresent())('the Debian package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-debs-'));
  let debian: Debian;
  let deb: string;
  let newer: string;
  let app: Connected;

  beforeAll(async () => {
    const { bundle, binaries } = await builtArtefacts();
    [deb = ''] = await buildDebianPackages({ out: folder, architectures: ['x64'], bundle, binaries });
    newer = withVersion(deb, NEWER);
    withVersion(deb, '1000.0.0');
    debian = await startDebian({ systemd: true, mounts: { '/mnt': folder } });
    await debian.startBeside(process.execPath, [SCHOOL, '8000']).line(/^ready$/);
  }, 15 * 60_000);
  afterAll(async () => {
    await debian?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const install = (file: string) => debian.succeed(`apt-get install --yes /mnt/${file.split('/').pop()}`);
  const state = async () => (await debian.run('systemctl is-active coursegate')).stdout.trim();
  const pid = async () => Number(await debian.succeed('systemctl show --property MainPID --value coursegate'));
  /** Permissions, owner and group. */
  const ownership = async (path: string) => (await debian.succeed(`stat --format '%a %U:%G' ${path}`)).trim();
  const until = (command: string) => debian.succeed(`timeout 60 sh -c 'until ${command}; do sleep 0.1; done'`);
  const healthy = () => until(`coursegate health --config ${CONFIGURATION} >/dev/null 2>&1`);
  const ask = async (...args: readonly string[]): Promise<Connected> => {
    const asked = debian.startBeside(process.execPath, [APP, ...args]);
    const code = await asked.exited;
    if (code !== 0) throw new Error(asked.stderr());
    return JSON.parse(asked.stdout()) as Connected;
  };
  /** Refreshes the app's token, which works only with the store and the secret that the app was connected with. */
  const refresh = async () => {
    app = await ask('refresh', 'http://localhost:8080', app.client_id, app.refresh_token);
    return app.status;
  };
  /** What must survive. */
  const kept = async () => ({
    secret: await debian.succeed('cat /etc/coursegate/secret'),
    configuration: await debian.succeed(`cat ${CONFIGURATION}`),
    inode: await debian.succeed('stat --format %i /var/lib/coursegate/coursegate.db'),
  });

  it('creates the user, the folders and a secret, and waits for a configuration', async () => {
    await install(deb);
    expect(await ownership('/etc/coursegate')).toBe('750 root:coursegate');
    expect(await ownership('/etc/coursegate/secret')).toBe('640 root:coursegate');
    expect(await ownership('/var/lib/coursegate')).toBe('700 coursegate:coursegate');
    expect(Buffer.from(await debian.succeed('cat /etc/coursegate/secret'), 'base64')).toHaveLength(32);
    expect(await debian.succeed('getent passwd coursegate')).toMatch(/:\/var\/lib\/coursegate:\/usr\/sbin\/nologin\n$/);
    expect((await debian.run('systemctl is-enabled coursegate')).stdout).toBe('enabled\n');
    expect(await state()).toBe('inactive');
    expect((await debian.run('systemctl --failed --plain --no-legend')).stdout).toBe('');
    expect(await debian.succeed('dpkg --verify coursegate')).toBe('');
  });

  it('compiles the program for its user, in a folder that only root can write to', async () => {
    const file = (await debian.succeed('ls /var/cache/coursegate/*/bundle')).trim();
    expect([await ownership(file), await ownership(dirname(file))]).toEqual(['644 root:root', '755 root:root']);
    expect((await debian.succeed('ls /var/cache/coursegate')).trim()).toBe(basename(dirname(file)));
    expect(Number(await debian.succeed(`stat --format %s ${file}`))).toBeGreaterThan(1_000_000);
    const variables = 'NODE_DEBUG_NATIVE=COMPILE_CACHE NODE_COMPILE_CACHE=/var/cache/coursegate';
    const told = await debian.succeed(`${variables} runuser --user coursegate -- coursegate --version 2>&1`);
    expect(told).toContain(`reading cache from ${dirname(file)}/`);
  });

  it('has a unit that systemd finds nothing wrong with, and that exposes little', async () => {
    const verified = await debian.run('systemd-analyze verify --man=no coursegate.service');
    expect(verified).toEqual({ code: 0, stdout: '', stderr: '' });
    const rated = await debian.succeed('systemd-analyze security --offline=yes --no-pager coursegate.service');
    const [, exposure = ''] = /Overall exposure level for coursegate\.service: ([\d.]+)/.exec(rated) ?? [];
    console.log(`deb: exposure ${exposure}`);
    expect(Number(exposure)).toBeLessThanOrEqual(1.6);
  });

  it('runs the gate as its user, which can write to the store’s folder only', async () => {
    writeFileSync(join(debian.path, CONFIGURATION), CONFIG);
    await debian.succeed(
      `chgrp coursegate ${CONFIGURATION} && chmod 0640 ${CONFIGURATION} && systemctl start coursegate`,
    );
    await healthy();
    const status = await debian.succeed(`cat /proc/${await pid()}/status`);
    const user = (await debian.succeed('id --user coursegate')).trim();
    expect(status).toMatch(new RegExp(`^Uid:\\t${user}\\t${user}\\t${user}\\t${user}$`, 'm'));
    expect(status).toMatch(/^CapEff:\t0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    const mounts = (await debian.succeed(`cat /proc/${await pid()}/mounts`)).split('\n').map((line) => line.split(' '));
    const options = (path: string) => mounts.findLast(([, place]) => place === path)?.[3]?.split(',')[0];
    expect([options('/'), options('/var/lib/coursegate')]).toEqual(['ro', 'rw']);
    app = await ask('connect', 'http://localhost:8080');
    expect(app.status).toBe(200);
  });

  it('loads a changed configuration when it is reloaded', async () => {
    const before = await pid();
    await debian.succeed(
      `sed -i 's/^profile: B/profile: B\\nname: Harbour Lane/' ${CONFIGURATION} && systemctl reload coursegate`,
    );
    await until('journalctl --unit coursegate --output cat | grep -q config_reloaded');
    expect(await pid()).toBe(before);
  });

  it('survives an upgrade with its configuration, secret and store, and runs the new version', async () => {
    const before = { pid: await pid(), ...(await kept()) };
    await install(newer);
    const after = { pid: await pid(), ...(await kept()) };
    expect(after).toEqual({ ...before, pid: expect.any(Number) });
    expect(after.pid).not.toBe(before.pid);
    await healthy();
    expect(await refresh()).toBe(200);
  });

  it('stays stopped in an upgrade if it was', async () => {
    await debian.succeed('systemctl stop coursegate');
    await install(newer.replace(NEWER, '1000.0.0'));
    expect(await state()).toBe('inactive');
  });

  it('keeps configuration, secret and store when it is removed, and goes on with them when it is installed again', async () => {
    await debian.succeed('systemctl start coursegate');
    const before = await kept();
    await debian.succeed('apt-get remove --yes coursegate');
    expect(await state()).toBe('inactive');
    expect((await debian.run('command -v coursegate')).stdout).toBe('');
    expect(await kept()).toEqual(before);
    await install(deb);
    await healthy();
    expect(await kept()).toEqual(before);
    expect(await refresh()).toBe(200);
  });

  it('does not restart what a restart cannot fix, and says where the mistake is', async () => {
    await debian.succeed(`systemctl stop coursegate && cp ${CONFIGURATION} /root && echo 'prot: 1' >>${CONFIGURATION}`);
    await debian.succeed('systemctl start coursegate');
    await until('systemctl --quiet is-failed coursegate');
    expect(await debian.succeed('systemctl show --property NRestarts,ExecMainStatus,ActiveState coursegate')).toBe(
      'NRestarts=0\nExecMainStatus=78\nActiveState=failed\n',
    );
    expect(await debian.succeed('journalctl --unit coursegate --output cat')).toContain(`${CONFIGURATION}:`);
    await debian.succeed(`cp /root/coursegate.yaml ${CONFIGURATION} && systemctl start coursegate`);
    await healthy();
  });

  it('leaves nothing but its user when it is purged', async () => {
    await debian.succeed('apt-get purge --yes coursegate');
    const left = await debian.succeed(
      `find /etc /usr /var /run /lib -xdev -name '*coursegate*' -not -path '/var/log/*' -not -path '/var/cache/*'`,
    );
    expect(left).toBe('');
    expect((await debian.run('ls /var/cache/coursegate')).stdout).toBe('');
    expect((await debian.run('getent passwd coursegate')).code).toBe(0);
    expect(await state()).toBe('inactive');
  });

  it('can be installed where systemd does not run, as in a container', async () => {
    const container = await startDebian({ mounts: { '/mnt': folder } });
    try {
      await container.succeed(`apt-get install --yes /mnt/${deb.split('/').pop()}`);
      const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
      expect(await container.succeed('coursegate --version')).toBe(`${version}\n`);
    } finally {
      await container.remove();
    }
  });
});

/** The same package with another version. */
function withVersion(deb: string, version: string): string {
  const tree = mkdtempSync(join(tmpdir(), 'coursegate-deb-'));
  const file = deb.replace(/_[^_]+_/, `_${version}_`);
  const run = (...args: readonly string[]) => execFileSync('dpkg-deb', args, { stdio: 'pipe' });
  run('--raw-extract', deb, tree);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}`));
  run('--root-owner-group', '-Znone', '--build', tree, file);
  rmSync(tree, { recursive: true });
  return file;
}
