import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '../../support/certificates.ts';
import { type Debian, type DebianOptions, type RunOptions, startDebian } from '../../support/debian.ts';

const SCHOOL = fileURLToPath(new URL('school.ts', import.meta.url));
const SITE = '/etc/nginx/conf.d/school.conf';
/** What Node trusts there besides its own list. */
const AUTHORITIES = '/etc/ssl/test-ca.pem';

/** The demo's school on a Debian 12: https://school.example at nginx, and http://127.0.0.1:8000 behind it. */
export interface SchoolHost extends Debian {
  /** Runs a command as the administrator, an ordinary user who may use sudo. */
  asAdministrator(command: string, network?: RunOptions['network']): Promise<string>;
  /** Puts a line into the `server` block of the site, before its locations. */
  addToSite(line: string): void;
  /** Resolves when the gate is ready, a second after it was started. */
  untilReady(): Promise<void>;
}

interface SchoolHostOptions {
  /** Files of this machine for the home of the administrator. */
  readonly files: readonly string[];
  readonly mounts?: DebianOptions['mounts'];
}

/** Asks until it is answered with 200. */
const ASK = `const ask = () => fetch('http://127.0.0.1:9090/readyz').then(({ ok }) => ok || again(), again);
const again = () => setTimeout(ask, 100);
ask();`;

const NGINX = `server {
  listen 80;
  server_name school.example;
  return 301 https://$host$request_uri;
}
server {
  listen 443 ssl;
  server_name school.example;
  ssl_certificate /etc/nginx/school.crt;
  ssl_certificate_key /etc/nginx/school.key;
  add_header Strict-Transport-Security "max-age=31536000" always;
  # More is included here.
  location / {
    proxy_pass http://127.0.0.1:8000;
    proxy_set_header Host $http_host;
  }
}
`;

/** Starts it. Its administrator is `ada`. */
export async function startSchoolHost({ files, mounts }: SchoolHostOptions): Promise<SchoolHost> {
  const debian = await startDebian({ systemd: true, packages: ['nginx', 'sudo'], ...(mounts && { mounts }) });
  const inside = (path: string) => join(debian.path, path);
  const authority = createAuthority();
  const { cert, key } = authority.issue('school.example', 90);
  writeFileSync(inside('/etc/nginx/school.crt'), cert);
  writeFileSync(inside('/etc/nginx/school.key'), key, { mode: 0o600 });
  // And the one of a registry behind a proxy with its own authority.
  const further = process.env.NODE_EXTRA_CA_CERTS;
  writeFileSync(inside(AUTHORITIES), authority.ca + (further === undefined ? '' : readFileSync(further, 'utf8')));
  authority.close();
  writeFileSync(inside('/etc/hosts'), '127.0.0.1 localhost debian school.example\n');
  writeFileSync(inside(SITE), NGINX);
  // Node trusts the test's authority by this variable, which sudo would remove.
  writeFileSync(
    inside('/etc/sudoers.d/test'),
    'Defaults env_keep += "NODE_EXTRA_CA_CERTS DEBIAN_FRONTEND"\nada ALL=(ALL) NOPASSWD: ALL\n',
  );
  await debian.succeed('useradd --create-home ada && systemctl restart nginx');
  for (const file of files) copyFileSync(file, inside(join('/home/ada', basename(file))));
  await debian.startBeside(process.execPath, [SCHOOL, '8000']).line(/^ready$/);
  return {
    ...debian,
    asAdministrator: (command, network = 'own') =>
      debian.succeed(`set -e\n${command}`, {
        user: 'ada',
        network,
        environment: { NODE_EXTRA_CA_CERTS: AUTHORITIES },
      }),
    addToSite(line) {
      writeFileSync(inside(SITE), NGINX.replace('  # More is included here.\n', `  ${line}\n`));
    },
    async untilReady() {
      await debian.startBeside('timeout', ['60', process.execPath, '-e', ASK]).exited;
    },
  };
}
