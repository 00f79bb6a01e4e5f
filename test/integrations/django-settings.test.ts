import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { init } from '../../src/operator/setup/init/init.ts';
import { KINDS, type ProbedSite, startProbed } from '../operator/setup/sites.ts';
import { frameworkPresent } from './contract/backend.ts';
import { DJANGO } from './contract/frameworks.ts';

const [PYTHON] = DJANGO.probe;
/** As `startproject` writes it since Django 3.1: it imports nothing else. */
const SETTINGS = `from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent
SECRET_KEY = "s" * 50
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE_DIR / "db.sqlite3"}}

`;

describe.skipIf(!frameworkPresent(DJANGO))('what init writes for Django', () => {
  let dir: string;
  let site: ProbedSite;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'coursegate-django-settings-'));
    site = await startProbed(KINDS.django ?? {});
    await init({
      ...{ upstream: site.url, origin: 'https://school.example', dir, port: 8080, adminPort: 9090 },
      ...{ force: false, site: false, observe: false, tell: () => undefined, agree: async () => true },
    });
    writeFileSync(join(dir, 'drop-in/settings.py'), SETTINGS);
    appendFileSync(join(dir, 'drop-in/settings.py'), readFileSync(join(dir, 'drop-in/settings-lines.py')));
    writeFileSync(
      join(dir, 'drop-in/urls.py'),
      'from django.urls import include, path\nurlpatterns = [path("coursegate/", include("coursegate"))]\n',
    );
  });
  afterAll(async () => {
    await site?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const django = (environment: NodeJS.Dict<string>, ...args: string[]) => {
    const env = {
      ...{ PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', DJANGO_SETTINGS_MODULE: 'settings' },
      ...environment,
    };
    const { status, stdout, stderr } = spawnSync(PYTHON, ['-m', 'django', ...args], {
      ...{ cwd: join(dir, 'drop-in'), env: { ...env, PYTHONPATH: '.' }, encoding: 'utf8' },
    });
    return { status, output: stdout + stderr };
  };
  const START = 'from django.core.wsgi import get_wsgi_application; get_wsgi_application(); print("started")';

  it('starts a site whose settings import only pathlib', () => {
    const environment = parseEnv(readFileSync(join(dir, '.env'), 'utf8'));
    expect(django(environment, 'check')).toEqual({
      status: 0,
      output: 'System check identified no issues (0 silenced).\n',
    });
    expect(django(environment, 'shell', '-v', '0', '-c', START)).toEqual({ status: 0, output: 'started\n' });
  });

  it.each(['COURSEGATE_BRIDGE_SECRET', 'COURSEGATE_ADMIN_SECRET', 'COURSEGATE_KEY'])(
    'names %s if it is not set: a command goes on, and the site does not start',
    (variable) => {
      const environment = { ...parseEnv(readFileSync(join(dir, '.env'), 'utf8')), [variable]: undefined };
      const said = new RegExp(`^coursegate: COURSEGATE\\['\\w+'\\] must .*\\. Is ${variable} set in .*\n`, 'm');
      expect(django(environment, 'check')).toEqual({ status: 0, output: expect.stringMatching(said) });
      const started = django(environment, 'shell', '-v', '0', '-c', START);
      expect(started).toEqual({ status: 1, output: expect.stringContaining(`ImproperlyConfigured: COURSEGATE[`) });
      expect(started.output).not.toContain('KeyError');
    },
  );
});
