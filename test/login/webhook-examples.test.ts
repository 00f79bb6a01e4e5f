import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readPasswordHash } from '../../src/passwords/password-hash.ts';
import { freePort } from '../support/world.ts';
import { type SignInWorld, startSignIn } from './support/sign-in.ts';
import { WEBHOOK_SECRET } from './support/webhook-backend.ts';

const PAGE = readFileSync(new URL('../../docs/login/webhook.md', import.meta.url), 'utf8');
const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';
const LONGEST = 240_000;

/** The hash of `ann’s`. */
const ANN = '$2y$05$VshtfdHkltNOk95REYZwL.TzpHFYMA0WtRLLfLxvy7T3jbglX33eG';

/** The code of the page's only example in a language. */
function exampleIn(language: string): string {
  const found = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  if (found.length !== 1) throw new Error(`${found.length} examples in ${language}`);
  return found[0]?.[1] ?? '';
}

interface Example {
  readonly language: string;
  readonly probe: readonly [string, ...string[]];
  readonly install: string;
  /** What Ann enters, and what the school returns for her. */
  readonly username: string;
  readonly member: Record<string, unknown>;
  /** Writes a minimal school around the example and returns the command that serves it. */
  around(folder: string, port: number): readonly [string, ...string[]];
}

const EXAMPLES: readonly Example[] = [
  {
    language: 'php',
    probe: ['php', '-r', 'exit((int) !extension_loaded("pdo_sqlite"));'],
    install: 'apt-get install php-cli php-sqlite3',
    username: 'ann@school.test',
    member: { sub: '7', email: 'ann@school.test', name: 'Ann Lee' },
    around(folder, port) {
      const database = new DatabaseSync(join(folder, 'school.db'));
      database.exec('CREATE TABLE members (id INTEGER, email TEXT, name TEXT, password TEXT, active INTEGER)');
      const add = database.prepare('INSERT INTO members VALUES (?, ?, ?, ?, ?)');
      add.run(7, 'ann@school.test', 'Ann Lee', ANN, 1);
      add.run(8, 'gone@school.test', 'Gone', ANN, 0);
      database.close();
      mkdirSync(join(folder, 'internal'));
      writeFileSync(join(folder, 'internal/login.php'), exampleIn('php'));
      return ['php', '-S', `127.0.0.1:${port}`, 'internal/login.php'];
    },
  },
  {
    language: 'python',
    probe: [PYTHON, '-c', 'import django'],
    install: 'apt-get install python3-django',
    username: 'ann',
    member: { sub: '1', email: 'ann@school.test', name: 'Ann Lee' },
    around(folder, port) {
      writeFileSync(join(folder, 'views.py'), exampleIn('python'));
      writeFileSync(join(folder, 'school.py'), DJANGO);
      return [PYTHON, 'school.py', String(port)];
    },
  },
];

/** A minimal project with two members. */
const DJANGO = `import sys
import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"], SECRET_KEY="k" * 50, ROOT_URLCONF="urls",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"],
    MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "school.db"}},
)
django.setup()

import types
from wsgiref.simple_server import make_server
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.urls import path
import views

urls = types.ModuleType("urls")
urls.urlpatterns = [path("internal/login", views.login)]
sys.modules["urls"] = urls

call_command("migrate", verbosity=0)
known = {"password": "ann\\u2019s", "first_name": "Ann", "last_name": "Lee"}
User.objects.create_user("ann", "ann@school.test", **known)
User.objects.create_user("gone@school.test", "gone@school.test", is_active=False, **known)
make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application()).serve_forever()
`;

import { missing } from '../support/missing.ts';

function present({ language, probe: [command, ...args], install }: Example): boolean {
  if (spawnSync(command, args, { stdio: 'ignore' }).status === 0) return true;
  return missing(`the example in ${language} of docs/login/webhook.md needs: ${install}`);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (...lines: readonly string[]) =>
  createHmac('sha256', WEBHOOK_SECRET).update(lines.join('\n')).digest('hex');

describe.each(EXAMPLES)('the example in $language of docs/login/webhook.md', (example) => {
  describe.skipIf(!present(example))('in a running school', () => {
    let folder: string;
    let school: ChildProcess;
    let url: string;
    let gate: SignInWorld;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'coursegate-webhook-'));
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const [command, ...args] = example.around(folder, port);
      school = spawn(command, args, {
        cwd: folder,
        stdio: 'ignore',
        env: {
          PATH: process.env.PATH ?? '',
          LOGIN_WEBHOOK_SECRET: WEBHOOK_SECRET,
          DATABASE: `sqlite:${join(folder, 'school.db')}`,
        },
      });
      await vi.waitFor(() => fetch(url), { timeout: LONGEST, interval: 100 });
      gate = await startSignIn(
        {
          kind: 'webhook',
          upstream: 'accounts',
          path: '/internal/login',
          secret: { env: 'LOGIN_WEBHOOK_SECRET' },
          timeout: '60s',
        },
        {
          environment: { LOGIN_WEBHOOK_SECRET: WEBHOOK_SECRET },
          overrides: { upstreams: { accounts: { url, timeout: '60s', breaker: { failures: 0 } } } },
        },
      );
    }, LONGEST);
    afterAll(async () => {
      await gate?.close();
      if (school.exitCode === null && school.kill('SIGKILL')) await once(school, 'exit');
      rmSync(folder, { recursive: true, force: true });
    });

    it(
      'signs a member in, with the school’s data about them',
      async () => {
        const { tokens } = await gate.connect(example.username, 'ann’s');
        const who = await fetch(`${gate.world.origin}/api/oauth/userinfo`, {
          headers: { authorization: `Bearer ${tokens.access_token}` },
        });
        expect(await who.json()).toMatchObject(example.member);
      },
      LONGEST,
    );

    it.each([
      ['a wrong password', example.username, 'wrong'],
      ['an unknown name', 'nobody', 'ann’s'],
      ['a former member', 'gone@school.test', 'ann’s'],
      ['a name with SQL', "' OR 1=1 -- ", 'ann’s'],
    ])(
      'refuses %s with a signed response',
      async (_, username, password) => {
        const page = await gate.attempt(username, password);
        expect(page.status).toBe(400);
        expect(page.headers.getSetCookie().join()).not.toContain('coursegate_member');
      },
      LONGEST,
    );

    it(
      'reveals nothing without the secret, or to a replayed request',
      async () => {
        const body = JSON.stringify({ username: example.username, password: 'ann’s', address: '198.51.100.7' });
        const now = Math.floor(Date.now() / 1000);
        const field = (time: number, signed = body) =>
          `t=${time},n=5f0c,v1=${hmac('coursegate-login-v1', String(time), '5f0c', sha256(signed))}`;
        const ask = async (signature: string | undefined) => {
          const headers = signature === undefined ? undefined : { 'coursegate-signature': signature };
          const answer = await fetch(`${url}/internal/login`, { method: 'POST', body, ...(headers && { headers }) });
          return { status: answer.status, said: await answer.text() };
        };
        expect((await ask(field(now))).status).toBe(200);
        const wrong = field(now).replace(/v1=./, (head) => (head === 'v1=0' ? 'v1=1' : 'v1=0'));
        const other = body.replace('ann’s', 'guess');
        for (const signature of [undefined, '', wrong, field(now - 301), field(now + 600), field(now, other)]) {
          expect(await ask(signature)).toEqual({ status: 400, said: '' });
        }
      },
      LONGEST,
    );
  });
});

describe('the example in php of docs/login/webhook.md', () => {
  it('verifies a real hash for an unknown name', () => {
    const [, decoy = ''] = /\?\? '(\$2y\$[^']+)'/.exec(exampleIn('php')) ?? [];
    expect(readPasswordHash(decoy)?.scheme).toBe('bcrypt');
  });
});
