import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MARIADBD, startMariaDb } from '../support/mariadb.ts';
import { missing } from '../support/missing.ts';
import { freePort } from '../support/world.ts';

const WORDPRESS = process.env.WORDPRESS ?? '/usr/share/wordpress';
const PHP = ['/usr/bin/php', '/usr/local/bin/php'].find((path) => existsSync(path));
const DROP_IN = fileURLToPath(new URL('../../integrations/wordpress/', import.meta.url));

/** Whether tests on a real WordPress run. Without one, they are skipped by name; in CI they fail instead. */
export function wordpressPresent(): boolean {
  const lacking = [
    ...(existsSync(join(WORDPRESS, 'wp-load.php')) ? [] : ['wordpress']),
    ...(PHP === undefined ? ['php-cli php-mysql'] : []),
    ...(MARIADBD === undefined ? ['mariadb-server'] : []),
  ];
  if (lacking.length === 0) return true;
  return missing(
    `no ${lacking.join(', ')} found: the WordPress tests need them (apt-get install wordpress mariadb-server php-cli php-mysql)`,
  );
}

export const OLU = { id: '2', login: 'olu', password: 'olu-and-the-sky', email: 'olu@example.com', name: 'Olu Adé' };
/** A member who is banned, according to the test's own plugin. */
const BANNED = { id: '3', login: 'kit', password: 'kit-and-the-key', email: 'kit@example.com', name: 'Kit Low' };
export const SAM = { id: '4', login: 'sam', password: 'sam-and-the-sea', email: 'sam@example.com', name: 'Sam Ortiz' };
export const ADMIN = { id: '1', login: 'head', password: 'head-of-the-school', email: 'head@example.com' };

export interface WordpressSite {
  /** Where it listens. */
  readonly url: string;
  /** The name of the login cookie. */
  readonly loginCookie: string;
  /** Runs PHP in this WordPress, like its command line tool. Returns the output. */
  run(php: string): Promise<string>;
  /** The content of PHP's log. */
  log(): string;
  /** PHP's warnings, notices and deprecations about the plugin. */
  complaints(): readonly string[];
  close(): Promise<void>;
}

/**
 * A WordPress from Debian's package, installed by its own installer on a new MariaDB, with members, their posts, and the
 * drop-in. Takes the origin that browsers use (default: the site's own), the drop-in's settings, files of further
 * must-use plugins by name, and the folder of an ordinary plugin, which is not activated.
 */
export async function startWordpress(options: {
  readonly origin?: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly plugins?: Readonly<Record<string, string>>;
  readonly pluginFolder?: string;
  /** The hosts of further sites. The one at `origin` is then the first of a network. */
  readonly network?: readonly string[];
}): Promise<WordpressSite> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-wordpress-'));
  const root = join(folder, 'site');
  const log = join(folder, 'php.log');
  const database = await startMariaDb();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const origin = options.origin ?? url;

  cpSync(WORDPRESS, root, { recursive: true, dereference: true, filter: (path) => !path.endsWith('/wp-content') });
  for (const name of ['mu-plugins', 'themes/plain']) mkdirSync(join(root, 'wp-content', name), { recursive: true });
  for (const name of ['coursegate.php', 'coursegate-courses.php']) {
    copyFileSync(join(DROP_IN, name), join(root, 'wp-content/mu-plugins', name));
  }
  const { pluginFolder } = options;
  if (pluginFolder !== undefined) {
    cpSync(pluginFolder, join(root, 'wp-content/plugins', basename(pluginFolder)), { recursive: true });
  }
  for (const [name, text] of Object.entries(options.plugins ?? {})) {
    writeFileSync(join(root, 'wp-content/mu-plugins', name), text);
  }
  writeFileSync(join(root, 'wp-content/themes/plain/style.css'), '/* Theme Name: plain */');
  writeFileSync(join(root, 'wp-content/themes/plain/index.php'), '<?php echo "<main>a page of the school</main>";');
  writeFileSync(join(root, 'wp-config.php'), wpConfig({ origin, socket: database.socket, log, ...options }));
  writeFileSync(join(folder, 'router.php'), ROUTER);

  // Without it, each command would compile the whole of WordPress.
  const compiled = join(folder, 'compiled');
  mkdirSync(compiled);
  const run = (php: string) => runPhp({ root, compiled, host: new URL(origin).host }, php);
  await run(INSTALL);
  const { network } = options;
  if (network !== undefined) {
    const { host } = new URL(origin);
    await run(makeNetwork(host));
    const ofNetwork = { ...IN_NETWORK, DOMAIN_CURRENT_SITE: host, ...options.settings };
    writeFileSync(
      join(root, 'wp-config.php'),
      wpConfig({ origin: undefined, socket: database.socket, log, settings: ofNetwork }),
    );
    for (const one of network) await run(`wp_insert_site(['domain' => ${quote(one)}, 'path' => '/', 'user_id' => 1]);`);
  }
  // By default, PHP checks for changed files every two seconds; a replaced drop-in must take effect at once.
  const fresh = ['-d', 'opcache.revalidate_freq=0', '-d', 'opcache.file_update_protection=0'];
  const server = spawn(PHP ?? '', [...fresh, '-q', '-S', `127.0.0.1:${port}`, '-t', root, join(folder, 'router.php')], {
    // More than one worker: the plugin calls the gate during a request, and the gate may call this site in turn.
    env: { ...process.env, PHP_CLI_SERVER_WORKERS: '4' },
    // Its workers are child processes, which do not exit with it.
    detached: true,
    stdio: 'ignore',
  });
  const close = async () => {
    await endGroup(server);
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await listens(url))) {
    if (server.exitCode !== null) throw new Error(`php -S ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    loginCookie: `wordpress_logged_in_${(await run('echo COOKIEHASH;')).trim()}`,
    run,
    log: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    complaints: () =>
      (existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []).filter((line) => /mu-plugins/.test(line)),
    close,
  };
}

async function listens(url: string): Promise<boolean> {
  return fetch(`${url}/?coursegate=whoami`, { redirect: 'manual' }).then(
    (response) => response.arrayBuffer().then(() => true),
    () => false,
  );
}

function endGroup(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    server.once('close', () => resolve());
    process.kill(-(server.pid ?? 0), 'SIGKILL');
  });
}

function runPhp(
  { root, compiled, host }: { root: string; compiled: string; host: string },
  php: string,
): Promise<string> {
  const prelude = `
    $_SERVER += ['HTTP_HOST' => ${quote(host)}, 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1'];
    define('COURSEGATE_TEST', true);
    chdir(${quote(root)});`;
  const load = php === INSTALL ? '' : "require 'wp-load.php';";
  const settings = [
    ...['display_errors=stderr', 'opcache.enable_cli=1', 'opcache.file_cache_only=1', `opcache.file_cache=${compiled}`],
    'opcache.file_update_protection=0',
  ].flatMap((setting) => ['-d', setting]);
  const child = spawn(PHP ?? '', [...settings, '-r', `${prelude} ${load} ${php}`]);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`php ended with ${code}: ${stdout}${stderr}`));
    });
  });
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Each site at a host of its own. */
const IN_NETWORK = {
  MULTISITE: '1',
  SUBDOMAIN_INSTALL: '1',
  PATH_CURRENT_SITE: '/',
  SITE_ID_CURRENT_SITE: '1',
  BLOG_ID_CURRENT_SITE: '1',
};

/** What the page "Network Setup" of the dashboard does. It fails where names below the host do not resolve, once all is done. */
const makeNetwork = (host: string) => `
require ABSPATH . 'wp-admin/includes/upgrade.php';
require ABSPATH . 'wp-admin/includes/network.php';
global $wpdb;
foreach ($wpdb->tables('ms_global') as $table => $prefixed) $wpdb->$table = $prefixed;
install_network();
$result = populate_network(1, ${quote(host)}, '${ADMIN.email}', 'Network', '/', true);
if (is_wp_error($result) && $result->get_error_code() !== 'no_wildcard_dns') throw new Exception($result->get_error_message());
`;

function wpConfig(options: {
  readonly origin: string | undefined;
  readonly socket: string;
  readonly log: string;
  readonly settings: Readonly<Record<string, string>>;
}): string {
  const constants = {
    DB_NAME: 'school',
    DB_USER: 'root',
    DB_PASSWORD: '',
    DB_HOST: `localhost:${options.socket}`,
    DB_CHARSET: 'utf8mb4',
    AUTH_KEY: 'a key of this site',
    AUTH_SALT: 'a salt of this site',
    ...(options.origin !== undefined && { WP_HOME: options.origin, WP_SITEURL: options.origin }),
    WP_DEFAULT_THEME: 'plain',
    WP_DEBUG_LOG: options.log,
    ...options.settings,
  };
  const lines = Object.entries(constants).map(([name, value]) => `define(${quote(name)}, ${quote(value)});`);
  return `<?php
if (($_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '') === 'https') $_SERVER['HTTPS'] = 'on';
${lines.join('\n')}
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('DISABLE_WP_CRON', true);
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;
}

/** Like WordPress's rewrite rules for Apache: existing files are served, everything else goes to index.php. */
const ROUTER = `<?php
$file = $_SERVER['DOCUMENT_ROOT'] . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($file) || (is_file(rtrim($file, '/') . '/index.php') && !is_file($file) && rtrim($file, '/') !== $_SERVER['DOCUMENT_ROOT'])) {
    return false;
}
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
`;

const member = ({ login, password, email, name }: typeof SAM) => `wp_insert_user(['user_login' => ${quote(login)},
  'user_pass' => ${quote(password)}, 'user_email' => ${quote(email)}, 'display_name' => ${quote(name)}, 'role' => 'author'])`;

/** Calls the installer's own function, without its mail, and creates two members and their posts. */
const INSTALL = `
define('WP_INSTALLING', true);
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
preg_match("~'DB_HOST', 'localhost:(.*?)'~", file_get_contents('wp-config.php'), $found);
(new mysqli('localhost', 'root', '', '', 0, $found[1]))->query('create database school');
require 'wp-load.php';
function wp_mail() { return true; }
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Harbour Lane', '${ADMIN.login}', '${ADMIN.email}', true, '', '${ADMIN.password}');
update_option('permalink_structure', '/%postname%/');
foreach ([${member(OLU)}, ${member(BANNED)}, ${member(SAM)}] as $at => $id) {
  if ($id !== $at + 2) throw new Exception('not the member id that the tests know');
  $name = get_userdata($id)->display_name;
  foreach (['publish', 'draft', 'private'] as $status) {
    $post = wp_insert_post(['post_author' => $id, 'post_status' => $status, 'post_title' => "$name & a $status post", 'post_content' => 'Words.']);
    wp_insert_comment(['comment_post_ID' => $post, 'user_id' => $id, 'comment_author' => $name,
      'comment_content' => "<b>$name</b> on a $status post", 'comment_approved' => $status === 'publish' ? 1 : 0]);
  }
}
update_user_meta(${BANNED.id}, 'banned', '1');
`;
