import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pageCallWarnings } from '../../../config/page-call-checks.ts';
import type { Config } from '../../../config/schema.ts';
import { formatPath } from '../../../config/tree.ts';
import { hasGateway, unknownSite } from '../../../decisions/settings-checks.ts';
import { trustedProxies } from '../../../http/trusted-proxies.ts';
import { hostPort, reachableHost } from '../../host-port.ts';
import { UsageError } from '../../usage-error.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayFile } from './gateway-file.ts';
import { ASKING } from './gateways.ts';
import {
  endOfNames,
  fileNamed,
  firstLine,
  type PluginPlan,
  pluginPlan,
  type SnippetFile,
  type SnippetSource,
} from './plugin-plan.ts';
import { SENDING, sendingFile } from './sending.ts';

export interface Snippet {
  readonly files: readonly SnippetFile[];
  /** What else the operator has to change. */
  readonly notes: readonly string[];
}

/**
 * The snippet for a web server in front of the site, or of the sites of several schools. `server` is the name of a row;
 * `gate` is host:port as the web server reaches the gate, its listen address by default. Throws for a malformed `gate`, or a
 * gateway that cannot ask because of the configuration.
 */
export function configuredSnippet(
  sources: SnippetSource | readonly SnippetSource[],
  server: string,
  gate?: string,
): Snippet {
  const all = [sources].flat();
  const notes = all.flatMap((one) => notesOn(one, gate));
  const sending = SENDING.find(({ name }) => name === server);
  if (sending !== undefined) {
    const files = all.map((one) => {
      const of = endOfNames(one);
      const text = sendingFile(sending, one.config, reachedAt(one.config, gate), of);
      return { name: fileNamed(sending.file, of), text };
    });
    return { files, notes };
  }
  const asking = ASKING.find(({ name }) => name === server) as AskingGateway;
  const forwarding = all.filter(({ config }) => hasGateway(config.routes));
  const plans = (forwarding.length > 0 ? forwarding : all).map((one) => pluginPlan(one, reachedAt(one.config, gate)));
  if (!asking.unixSockets && plans.some(({ decisions }) => 'path' in decisions.address))
    throw new Error(
      `${asking.title} cannot ask over a Unix socket: set \`listen.decisions.address\` to a host and port.`,
    );
  const secret = plans.some(({ decisions }) => decisions.secret !== undefined) ? [HAS_SECRET] : [];
  const more = plans.flatMap((plan) => asking.notes?.(plan) ?? []);
  return { files: filesOf(asking, plans), notes: [...new Set([...notes, ...secret, ...more])] };
}

/** The files of a gateway: those of each school, or of all of them. */
function filesOf({ templates, quoted, joined, view }: AskingGateway, plans: readonly PluginPlan[]) {
  const schools = plans.map(view);
  // What does not differ between schools is taken from the first one.
  const views = joined === true ? [{ ...schools[0], firstLine: firstLine(plans), schools }] : schools;
  return views.flatMap((one, at) =>
    templates.map((path) => ({
      name: fileNamed(basename(path), joined === true ? '' : (plans[at]?.of ?? '')),
      text: gatewayFile(path, one, quoted),
    })),
  );
}

/** What `coursegate snippets` prints: the file, or each of several files after a line with its name. */
export function printed(files: readonly SnippetFile[]): string {
  return files.length === 1
    ? (files[0] as SnippetFile).text
    : files.map(({ name, text }) => `==> ${name} <==\n${text}`).join('\n');
}

/**
 * Writes the files to a folder, in place of older ones, and returns their paths. They may contain a secret, so only their
 * owner and group can read them, whatever was there: another mode, or a link to somewhere else.
 */
export async function writeSnippet(folder: string, files: readonly SnippetFile[]): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  return Promise.all(
    files.map(async ({ name, text }) => {
      const path = join(folder, name);
      const draft = `${path}.${process.pid}.new`;
      try {
        await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
        await chmod(draft, 0o640);
        await rename(draft, path);
      } catch (thrown) {
        await rm(draft, { force: true });
        throw thrown;
      }
      return path;
    }),
  );
}

/** Throws UsageError if `gate` is malformed. */
function reachedAt({ listen: { host, port } }: Config, gate = hostPort({ host: reachableHost(host), port })): string {
  if (/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/.test(gate)) return gate;
  throw new UsageError(`--gate must be host:port, not "${gate}".`);
}

const HAS_SECRET = 'What is printed contains the secret of listen.decisions: let no other user read it.';

function notesOn({ config, school }: SnippetSource, gate: string | undefined): readonly string[] {
  const { trustedProxies: trusted } = config.listen;
  const notes: string[] = [];
  const isHere = gate === undefined || /^(127\.|localhost:|\[::1\])/.test(gate);
  if (trusted.length === 0 || (isHere && !trustedProxies(trusted)('127.0.0.1')))
    notes.push(
      `Trust the web server in coursegate.yaml: listen: { trustedProxies: [${isHere ? 'loopback' : 'its address'}] }. Until then, all requests seem to come from its address.`,
    );
  const where = school === undefined ? '' : `${school}: `;
  const { host } = new URL(config.origin);
  for (const [name, { url }] of Object.entries(config.upstreams))
    if (new URL(url).host === host)
      notes.push(
        `${where}The upstream "${name}" has the public address ${host}: requests would loop between the web server and the gate.`,
      );
  for (const { path, message } of [...pageCallWarnings(config), ...unknownSite(config)])
    notes.push(`${where}${formatPath(path)} ${message}.`);
  return notes;
}
