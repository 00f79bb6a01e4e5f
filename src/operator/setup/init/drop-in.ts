import { join } from 'node:path';
import { listAt, valueAt } from '../../../config/tree.ts';
import { documentPath, readInstalled } from '../../../installation.ts';
import type { Framework } from '../names.ts';
import { upstreamName } from './configuration.ts';
import { dropInFiles, INTEGRATIONS, type NewFile, README, type SecretName, setupGuide, treeOf } from './preset.ts';

export interface DropInOptions {
  readonly framework: Framework;
  readonly origin: URL;
  readonly secrets: Readonly<Record<SecretName, string>>;
  /** Those of the secrets that the gate has too. */
  readonly shared: readonly SecretName[];
  /** The gate's JWKS, as reached by a backend on the same machine. */
  readonly jwksUrl: string;
  /** The admin listener, to which the site sends its commands. */
  readonly adminUrl: string;
  /** The text of the configuration. */
  readonly configuration: string;
}

const SETTINGS = /(\/\/ >>> settings[^\n]*\n)[\s\S]*?(\/\/ <<< settings)/;

/** The files of a framework's drop-in with its settings filled in, and its `.env`; none for a site without a drop-in. */
export function dropIn(options: DropInOptions): readonly NewFile[] {
  const { framework, origin } = options;
  const folder = join(INTEGRATIONS, framework);
  const files = dropInFiles(framework);
  // Such a backend is used as it is.
  if (files.length === 0) return [];
  const copied = files.map((path) => ({
    path: `drop-in/${path}`,
    text: readInstalled(join(folder, path)).toString('utf8'),
  }));
  copied.push({ path: setupGuide(framework), text: withoutLinksAway(readInstalled(join(folder, README)), framework) });
  if (framework === 'wordpress') {
    if (!copied.some(({ text }) => SETTINGS.test(text)))
      throw new Error('The WordPress drop-in has no settings block to fill in.');
    return copied.map(({ path, text }) =>
      SETTINGS.test(text) ? { path, text: withSettings(text, options), secret: true } : { path, text },
    );
  }
  const lines = LINES[framework];
  return [
    ...copied,
    ...(lines === undefined
      ? []
      : [{ ...lines, path: `drop-in/${lines.path}`, text: lines.text(options, origin.origin) }]),
    ...(options.shared.length > 0 && framework !== 'moodle' ? [environment(options)] : []),
  ];
}

/** A guide, with the documents that it links to by their paths in the installation. */
function withoutLinksAway(guide: Buffer, framework: string): string {
  return guide
    .toString('utf8')
    .replace(
      /\]\((?!https?:|#)([^)#]+)/g,
      (_all, path: string) => `](${documentPath(join('integrations', framework, path))}`,
    );
}

/** No escaping needed: an origin contains no character that is special in quotes in PHP, Python, Ruby or a shell. */
function withSettings(text: string, options: DropInOptions): string {
  const settings = Object.entries({
    COURSEGATE_ORIGIN: options.origin.origin,
    COURSEGATE_PAGES_ORIGIN: '',
    COURSEGATE_UPSTREAM: upstreamName(options.framework),
    COURSEGATE_SECRET: '',
    COURSEGATE_JWKS_URL: options.jwksUrl,
    COURSEGATE_ROUTES: 'GET /coursegate/v1',
    COURSEGATE_BOUND_ONLY: '',
    COURSEGATE_ADMIN: options.adminUrl,
    COURSEGATE_ADMIN_SECRET: options.secrets.admin,
    COURSEGATE_KEY: options.secrets.recheck,
  });
  const lines = settings.map(([key, value]) => `defined('${key}') || define('${key}', '${value}');\n`).join('');
  return text.replace(SETTINGS, (_all, begin: string, end: string) => begin + lines + end);
}

/** The environment variables of the site's process. */
function environment({ framework, origin, secrets, shared, jwksUrl }: DropInOptions): NewFile {
  const lines = [
    '# Environment variables for the site, not for coursegate.',
    `COURSEGATE_ORIGIN=${origin.origin}`,
    `COURSEGATE_UPSTREAM=${upstreamName(framework)}`,
    `COURSEGATE_BRIDGE_SECRET=${secrets.bridge}`,
    `COURSEGATE_JWKS_URL=${jwksUrl}`,
    ...(shared.includes('admin') ? [`COURSEGATE_ADMIN_SECRET=${secrets.admin}`] : []),
    ...(shared.includes('recheck') ? [`COURSEGATE_KEY=${secrets.recheck}`] : []),
  ];
  return { path: '.env', text: `${lines.join('\n')}\n`, secret: true };
}

/** The functions of Moodle's web services that the tools call. */
function functionsIn(configuration: string): readonly string[] {
  const called = listAt(treeOf(configuration), ['mcp', 'tools']).map((tool) =>
    valueAt(tool, ['get', 'query', 'function']),
  );
  return [...new Set(called.filter((name): name is string => typeof name === 'string'))];
}

/** What is left to configure of a framework, with the settings filled in. The upstream is named like the framework. */
interface Lines {
  readonly path: string;
  readonly text: (options: DropInOptions, origin: string) => string;
  readonly secret?: true;
}

const LINES: Partial<Record<Framework, Lines>> = {
  moodle: {
    path: 'config-lines.php',
    text: (
      { jwksUrl, adminUrl, secrets, shared, configuration },
      origin,
    ) => `// Add this to Moodle's config.php, before it requires lib/setup.php.
$CFG->forced_plugin_settings['local_coursegate'] = [
    'origin' => '${origin}',
    'upstream' => 'moodle',
    'jwksurl' => '${jwksUrl}',
    'functions' => '${functionsIn(configuration).join(' ')}',
${shared.includes('admin') ? `    'adminurl' => '${adminUrl}',\n    'adminsecret' => '${secrets.admin}',\n` : ''}${shared.includes('recheck') ? `    'key' => '${secrets.recheck}',\n` : ''}];
`,
    secret: true,
  },
  django: {
    path: 'settings-lines.py',
    text: (
      { jwksUrl, adminUrl },
      origin,
    ) => `# Add this to the end of settings.py, and path("coursegate/", include("coursegate")) to urls.py. The three secrets are in
# .env: set them for manage.py too, for example with \`set -a; . ./.env\`.
import os

INSTALLED_APPS = [*INSTALLED_APPS, "coursegate.CoursegateConfig"]
MIDDLEWARE = [*MIDDLEWARE, "coursegate.CoursegateMiddleware"]  # after AuthenticationMiddleware
COURSEGATE = {
    "ORIGIN": "${origin}",
    "UPSTREAM": "django",
    "SECRET": os.environ.get("COURSEGATE_BRIDGE_SECRET", ""),
    "JWKS_URL": "${jwksUrl}",
    "ADMIN_URL": "${adminUrl}",
    "ADMIN_SECRET": os.environ.get("COURSEGATE_ADMIN_SECRET", ""),
    "KEY": os.environ.get("COURSEGATE_KEY", ""),
}
`,
  },
  rails: {
    path: 'config/initializers/coursegate.rb',
    text: ({ jwksUrl }, origin) => `# frozen_string_literal: true

# Copy coursegate.rb to lib/ and coursegate_controller.rb to app/controllers/, and add to config/routes.rb:
#   get 'coursegate/whoami', to: 'coursegate#whoami'
#   get 'coursegate/bridge', to: 'coursegate#bridge'
require Rails.root.join('lib/coursegate')
Coursegate.configure(
  origin: '${origin}',
  upstream: 'rails',
  secret: ENV.fetch('COURSEGATE_BRIDGE_SECRET'),
  jwks_url: '${jwksUrl}'
)
# For Devise. Without it, see the README.md of the drop-in.
Rails.application.config.middleware.insert_after Warden::Manager, Coursegate::Assertion
`,
  },
  spring: {
    path: 'application-lines.properties',
    text: ({ jwksUrl }, origin) => `# Add this to application.properties.
coursegate.origin=${origin}
coursegate.upstream=spring
coursegate.secret=\${COURSEGATE_BRIDGE_SECRET}
coursegate.jwks-url=${jwksUrl}
`,
  },
  express: {
    path: 'gate.js',
    text: ({ jwksUrl }, origin) => `import { env } from 'node:process';
import { coursegate } from './coursegate.js';

/** Pass what only your site knows: signedIn, findMember and loginUrl. See README.md. */
export const gate = ({ signedIn, findMember, loginUrl }) =>
  coursegate({
    origin: '${origin}',
    upstream: 'express',
    secret: env.COURSEGATE_BRIDGE_SECRET,
    jwksUrl: '${jwksUrl}',
    signedIn,
    findMember,
    loginUrl,
  });
`,
  },
};
