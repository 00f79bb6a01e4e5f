import { appAddress } from '../../../config/page-calls.ts';
import { PLACEHOLDER } from '../../../config/placeholders.ts';
import { filledFile, type TemplateView } from '../../../http/template.ts';
import { codePath } from '../../../installation.ts';
import type { Framework } from '../names.ts';
import type { Discoveries } from './discoveries.ts';
import type { JsonLogin } from './json-login.ts';
import type { PresetFile } from './preset-file.ts';
import { type Proposal, proposedTools } from './proposals.ts';

/** A gate to be set up for a site. */
export interface Setup {
  readonly framework: Framework;
  /** Undefined for a framework that is not known. */
  readonly preset: PresetFile | undefined;
  readonly origin: URL;
  readonly port: number;
  readonly adminPort: number;
  readonly upstream: URL;
  readonly found: Discoveries;
  /** Whether all traffic goes through the gate, and whether it only observes. */
  readonly site: boolean;
  readonly observe: boolean;
  /** Whether a gateway asks, and forwards the requests itself. */
  readonly asked: boolean;
}

/** The file's first line. */
export const FIRST_LINE =
  '# coursegate, as written by `coursegate init`. Check it: npx coursegate check coursegate.yaml';

/** The site's name under `upstreams`. The drop-in uses it too. */
export function upstreamName(framework: Framework): string {
  return framework === 'generic' ? 'site' : framework;
}

/**
 * Writes coursegate.yaml for a site of unknown kind. Text from the site has been validated and is quoted. The result is
 * closed by default: requests without a token are refused, and paths without a route are not served.
 */
export function genericConfiguration(setup: Setup): string {
  const { origin, found } = setup;
  const text = template('generic', {
    firstLine: FIRST_LINE,
    origin: quoted(origin.origin),
    name: quoted(found.title ?? origin.hostname),
    listen: listenLine(setup),
    url: quoted(upstreamUrl(setup)),
    login: found.jsonLogin === undefined ? sessionLogin(setup) : formLogin(found.jsonLogin, found),
    site: siteSection(setup),
    api: apiSections(setup),
  });
  return `${text}\n`;
}

/** Without the last line break. */
function template(name: string, view: TemplateView): string {
  return filledFile(codePath(`operator/setup/init/templates/${name}.yaml`), view).trimEnd();
}

export function listenLine({ port, adminPort }: Pick<Setup, 'port' | 'adminPort'>): string {
  const admin = adminPort === DEFAULT_ADMIN_PORT ? '' : `, admin: { port: ${adminPort} }`;
  return `listen: { port: ${port}, trustedProxies: [loopback]${admin} }    # the web server runs on this machine`;
}

/** As in `listen.admin.port`. */
export const DEFAULT_ADMIN_PORT = 9090;

export function upstreamUrl({ upstream }: Pick<Setup, 'upstream'>): string {
  return upstream.href.replace(/\/$/, '');
}

/** Members sign in on a page of the site, and the gate asks `whoami` who they are. */
function sessionLogin({ origin, found }: Setup): string {
  const { loginPath, returnParam, sessionCookies, otherCookies } = found;
  const isCookie = sessionCookies.length > 0;
  return template('session-login', {
    whoamiFinding: whoamiFinding(found),
    whoami: whoamiFields(found),
    isPage: loginPath !== undefined,
    loginUrl: quoted(origin.origin + (loginPath ?? `/${PLACEHOLDER}`)),
    isReturn: returnParam !== undefined,
    returnParam: quoted(returnParam ?? PLACEHOLDER),
    isCookie,
    otherCookies: otherCookies.join(', '),
    cookies: (isCookie ? sessionCookies : [PLACEHOLDER]).map(quoted).join(', '),
  });
}

/** Members sign in on coursegate's page, which sends what they typed to the site's sign-in. */
function formLogin({ path, format, username, password, wrong, token }: JsonLogin, found: Discoveries): string {
  const pointer = token ?? `/${PLACEHOLDER}`;
  return template('form-login', {
    isToken: token !== undefined,
    whoamiFinding: whoamiFinding(found),
    action: quoted(path),
    ...{ format, username, password },
    pointer: quoted(pointer),
    failure: (wrong === 400 || wrong === 403) && wrong,
    whoami: whoamiFields(found),
    authorization: quoted(`Bearer {${pointer}}`),
  });
}

function whoamiFinding({ whoami }: Discoveries): string {
  if (whoami === undefined)
    return 'No address that identifies the member was found. Enter one that answers in JSON, and with 401 without a session.';
  return whoami.subject === undefined
    ? 'This address identifies the signed-in member. Enter where the id is in its answer, such as /id.'
    : 'This address identifies the signed-in member.';
}

function whoamiFields({ whoami }: Discoveries): string {
  const { path, subject, email, name } = whoami ?? {};
  const fields = { path: path ?? `/${PLACEHOLDER}`, subject: subject ?? `/${PLACEHOLDER}`, email, name };
  return Object.entries(fields)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${quoted(value)}`]))
    .join(', ');
}

/** What becomes of requests without a route, for the end of a file. */
export function siteSection({ framework, site, observe, asked, found }: Setup): string {
  const kind = observe ? 'observed' : site ? 'whole' : asked ? 'asked' : 'own-paths';
  const cookies = found.sessionCookies.map(quoted).join(', ');
  return template(`site-${kind}`, { upstream: upstreamName(framework), cookies });
}

/** The routes and tools that are proposed from the site's API description, for the end of a file. */
export function apiSections({ framework, found, observe, asked }: Setup): string {
  const name = upstreamName(framework);
  const proposals = observe ? [] : found.proposals;
  if (proposals.length === 0) return template('no-routes', { upstream: name });
  const tools = toolEntries(proposedTools(proposals), name);
  return template('routes', {
    // A gateway that forwards requests itself cannot rewrite them.
    ownAddresses: !asked && appAddress(''),
    key: proposals.some(({ fits }) => fits) ? 'routes:' : 'routes: []',
    routes: proposals.flatMap((one, at) => routeLines(one, proposals[at - 1], { name, asked })),
    tools,
    hasTools: tools.length > 0,
  });
}

function routeLines(
  { pattern, scope, fits, group }: Proposal,
  before: Proposal | undefined,
  { name, asked }: { readonly name: string; readonly asked: boolean },
): readonly string[] {
  const match = asked
    ? quoted(`GET ${pattern}`)
    : `${quoted(`GET ${appAddress(pattern)}`)}, rewrite: ${quoted(pattern)}`;
  const line = `{ match: ${match}, upstream: ${name}, scopes: [${quoted(scope)}] }`;
  const route = fits ? `- ${line}` : `# - ${line}    # which scope fits?`;
  return group === before?.group ? [route] : [`# ${group}`, route];
}

function toolEntries(tools: readonly Proposal[], upstream: string): readonly TemplateView[] {
  const names = new Set<string>();
  return tools.flatMap(({ pattern, scope, summary }) => {
    const words = pattern.split('/').filter((segment) => /[a-z]/i.test(segment) && !/^(api|v\d+)$/i.test(segment));
    const name = `get_${words.join('_').replace(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, 64);
    if (names.has(name)) return [];
    names.add(name);
    const title = summary ?? words.join(' ').replace(/[_-]/g, ' ');
    const description = quoted(`${title} (GET ${pattern}).`);
    return {
      name,
      upstream,
      title: quoted(title.slice(0, 80)),
      description,
      scope: quoted(scope),
      path: quoted(pattern),
    };
  });
}

/** JSON strings are valid YAML. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
