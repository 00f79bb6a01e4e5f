import { fileURLToPath } from 'node:url';
import type { Framework } from './backend.ts';

/** Debian's Python, because another one without Debian's packages may come first in PATH. */
const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';

export const EXPRESS: Framework = {
  name: 'Express',
  verifiesEmail: true,
  overrides: ['query'],
  mount: '/campus',
  probe: [process.execPath, '--version'],
  install: 'npm ci',
  commands: ({ app }) => ({ serve: [process.execPath, app('express.ts')] }),
  newPassword: (_old, fresh) => ({ password: fresh }),
};

export const DJANGO: Framework = {
  name: 'Django',
  mayHidePath: true,
  probe: [PYTHON, '-c', 'import django, cryptography'],
  install: 'apt-get install python3-django python3-cryptography',
  commands: ({ app, port }) => ({
    prepare: [PYTHON, app('django/manage.py'), 'migrate', '--verbosity', '0'],
    serve: [PYTHON, app('django/manage.py'), 'runserver', '--noreload', `127.0.0.1:${port}`],
  }),
  console: {
    'manage.py changepassword': (app, member, fresh) => ({
      command: [PYTHON, app('django/manage.py'), 'changepassword', member],
      input: `${fresh}\n${fresh}\n`,
    }),
    'manage.py shell': (app, member, fresh) => ({
      command: [PYTHON, app('django/manage.py'), 'shell'],
      input: `from django.contrib.auth import get_user_model
user = get_user_model().objects.get(username="${member}")
user.set_password("${fresh}")
user.save()
`,
    }),
  },
  newPassword: (old, fresh) => ({ old_password: old, new_password1: fresh, new_password2: fresh }),
};

/** With a user model of the site's own, which has no column `is_active`. */
export const DJANGO_STUDENTS: Framework = {
  ...DJANGO,
  name: 'Django with its own user model',
  commands(place) {
    const { prepare = [PYTHON], serve } = DJANGO.commands(place);
    const env = ['env', 'SCHOOL_USERS=students.Student'] as const;
    return { prepare: [...env, ...prepare], serve: [...env, ...serve] };
  },
  console: {
    'manage.py shell, through a proxy model': (app, member, fresh) => ({
      command: ['env', 'SCHOOL_USERS=students.Student', PYTHON, app('django/manage.py'), 'shell'],
      input: `from students.models import Alumna
user = Alumna.objects.get(username="${member}")
user.set_password("${fresh}")
user.save()
`,
    }),
  },
};

export const RAILS: Framework = {
  name: 'Rails',
  verifiesEmail: true,
  overrides: ['form', 'multipart', 'header'],
  mount: '/campus',
  probe: [
    'ruby',
    '-e',
    'require "rails"; require "devise"; require "puma"; require "sqlite3"; require "active_record"',
  ],
  install: 'apt-get install ruby-railties ruby-activerecord ruby-devise ruby-sqlite3 puma',
  commands: ({ app }) => ({ serve: ['ruby', app('rails.rb')] }),
  fields: { username: 'user[email]', password: 'user[password]' },
  remember: { field: 'user[remember_me]', cookie: /^remember_user_token$/ },
  console: {
    'rails runner': (app, member, fresh) => ({
      command: ['ruby', app('rails.rb'), 'runner', `User.find_by(username: '${member}').update!(password: '${fresh}')`],
    }),
    'rails console': (app, member, fresh) => ({
      command: ['ruby', app('rails.rb'), 'console'],
      input: `User.find_by(username: '${member}').update!(password: '${fresh}')\n`,
    }),
  },
  newPassword: (_old, fresh) => ({ password: fresh }),
};

export const LARAVEL: Framework = {
  name: 'Laravel',
  remember: { field: 'remember', cookie: /^remember_web_/ },
  verifiesEmail: true,
  overrides: ['query', 'form', 'multipart', 'json', 'header'],
  console: {
    'the console kernel, as tinker does': (app, member, fresh) => ({
      command: [
        'php',
        app('laravel/console.php'),
        `$user = App\\Models\\User::where('username', '${member}')->first();
         $user->update(['password' => Illuminate\\Support\\Facades\\Hash::make('${fresh}')]);`,
      ],
    }),
  },
  probe: ['php', '-r', 'require "Illuminate/autoload.php"; exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
  install: 'apt-get install php-laravel-framework php-cli php-sqlite3 php-mbstring',
  commands: ({ app, port }) => ({
    prepare: ['php', app('laravel/prepare.php')],
    serve: ['php', '-S', `127.0.0.1:${port}`, app('laravel/index.php')],
  }),
  readSettings: (app) => ['php', app('laravel/console.php'), 'app(App\\Coursegate\\Gate::class);'],
  newPassword: (_old, fresh) => ({ password: fresh }),
};

const SPRING_APP = fileURLToPath(new URL('../apps/spring', import.meta.url));
const SPRING_BUILD = `${SPRING_APP}/build.sh`;

/** Installed from Maven's repository, since Debian's Spring is too old. Tests never download it. */
export const SPRING: Framework = {
  name: 'Spring',
  overrides: ['query', 'form', 'multipart'],
  remember: { field: 'remember-me', cookie: /^remember-me$/ },
  probe: ['sh', SPRING_BUILD, 'packages'],
  install: `apt-get install default-jdk-headless maven, then mvn -f ${SPRING_APP}/pom.xml dependency:build-classpath`,
  elsewhere: true,
  commands: () => ({
    serve: [
      'sh',
      '-ec',
      `made=$(sh '${SPRING_BUILD}' classes)
       exec java -XX:TieredStopAtLevel=1 -Dspring.config.location='file:${SPRING_APP}/application.properties' -cp "$made/classes:$(cat "$made/classpath")" school.School`,
    ],
  }),
  newPassword: (_old, fresh) => ({ password: fresh }),
};
