import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config/load.ts';
import { configuredSnippet } from '../../../src/operator/setup/snippets/configured.ts';
import type { Schools } from '../../support/schools.ts';
import type { GatewayKind, RunningGateway } from './gateway-kind.ts';
import { runGateway } from './run-gateway.ts';

export interface SchoolsGateway {
  readonly port: number;
  /** The hosts of the schools, by their names. */
  readonly hosts: Readonly<Record<string, string>>;
  /** The backend of the rest of each site. */
  readonly sites: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Changes each file that coursegate has written. */
  readonly change?: (text: string) => string;
}

interface Written extends SchoolsGateway {
  readonly folder: string;
  readonly read: (name: string) => string;
}

/** What an operator adds for several schools at one port. Returns the arguments of the program. */
const OPERATORS: Readonly<Record<string, (written: Written) => readonly string[]>> = {
  'nginx-auth': nginx,
  'caddy-auth': caddy,
  haproxy,
  envoy,
};

/** The kinds that can have several schools at one port. */
export function takesSchools({ server }: GatewayKind): boolean {
  return Object.hasOwn(OPERATORS, server);
}

/** Starts one gateway for several schools, with all that `coursegate snippets` writes for the main file. */
export async function startSchoolsGateway(
  kind: GatewayKind,
  { folder: where, main }: Pick<Schools, 'folder' | 'main'>,
  options: SchoolsGateway,
): Promise<RunningGateway> {
  const { change = (text: string) => text, environment, port } = options;
  const { schools } = await loadConfig({ file: main, environment });
  if (schools === undefined) throw new Error('The main file lists no schools.');
  const loaded = await Promise.all([...schools.files.keys()].map((name) => schools.load(name)));
  const known = kind.assertionOnly === true ? loaded.map(withAssertions) : loaded;
  const { files } = configuredSnippet(known, kind.server);
  const folder = mkdtempSync(join(where, `${kind.name}-`));
  mkdirSync(join(folder, 'tmp'));
  for (const { name, text } of files) writeFileSync(join(folder, name), change(text));
  const read = (name: string) => change(files.find((file) => file.name === name)?.text ?? '');
  const args = OPERATORS[kind.server]?.({ ...options, folder, read });
  if (args === undefined) throw new Error(`No test has several schools behind ${kind.name}.`);
  const own = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return runGateway(kind.program() ?? '', [...args], { port, environment: own });
}

type Loaded = Awaited<ReturnType<typeof loadConfig>>;

function withAssertions(loaded: Loaded): Loaded {
  const { config } = loaded;
  const upstreams = Object.entries(config.upstreams).map(([name, one]) => [name, { ...one, identity: ['assertion'] }]);
  return { ...loaded, config: { ...config, upstreams: Object.fromEntries(upstreams) } };
}

/** The first server is also the one for unknown hosts. */
function nginx({ folder, port, hosts, sites }: Written): readonly string[] {
  const servers = Object.entries(hosts).map(
    ([name, host]) => `server {
    listen 127.0.0.1:${port};
    server_name ${host};
    include ${folder}/coursegate_${name}.conf;
    location / { proxy_pass ${sites[name]}; proxy_set_header Host $http_host; }
  }`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  include ${folder}/coursegate-http_*.conf;
  ${servers.join('\n  ')}
}
`,
  );
  return ['-p', folder, '-c', file, '-e', join(folder, 'error.log')];
}

function caddy({ folder, port, hosts, sites }: Written): readonly string[] {
  const blocks = Object.entries(hosts).map(
    ([name, host]) => `http://${host}:${port} {
	bind 127.0.0.1
	import ${folder}/Caddyfile_${name}
	handle {
		reverse_proxy ${sites[name]}
	}
}
`,
  );
  const file = join(folder, 'operators.Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n\tgrace_period 1s\n}\n${blocks.join('')}`);
  return ['run', '--adapter', 'caddyfile', '--config', file];
}

function haproxy({ folder, port, sites, read }: Written): readonly string[] {
  const file = join(folder, 'coursegate.cfg');
  const changed = read('coursegate.cfg')
    .replace(/lua-load-per-thread .*/, `lua-load-per-thread ${folder}/coursegate.lua`)
    .replace(/^ {4}bind .*/m, `    bind 127.0.0.1:${port}`);
  const sited = Object.entries(sites).reduce(
    (text, [name, url]) =>
      text.replace(new RegExp(`(backend site_${name} [^]*?server site) 127.0.0.1:8080`), `$1 ${new URL(url).host}`),
    changed,
  );
  writeFileSync(file, sited);
  return ['-db', '-f', file];
}

function envoy({ folder, port, sites, read }: Written): readonly string[] {
  const file = join(folder, 'envoy.yaml');
  const changed = read('envoy.yaml')
    .replace(/(name: public\n {6}address: ).*/, `$1{ socket_address: { address: 127.0.0.1, port_value: ${port} } }`)
    .replace(/^( *)stat_prefix: public$/m, '$&\n$1delayed_close_timeout: 0.02s')
    .replace(/^ +# Yours: your certificate\n(?: {10}.*\n)+/m, '');
  const sited = Object.entries(sites).reduce((text, [name, url]) => {
    const address = `$1{ socket_address: { address: '127.0.0.1', port_value: ${new URL(url).port} } }`;
    return text.replace(
      new RegExp(`(cluster_name: coursegate_site_${name}\\n.*?address: )\\{ socket_address: .*? \\} \\}`),
      address,
    );
  }, changed);
  writeFileSync(file, sited);
  return ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
}
