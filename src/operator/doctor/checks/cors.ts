import { field, type SiteAnswer, text, where } from '../answer.ts';
import type { Ask } from '../ask.ts';
import { withToken } from '../facts/protected-endpoints.ts';
import { checkEach, failure, warning } from '../finding.ts';
import { checks } from '../site.ts';
import { Unavailable } from '../unavailable.ts';

/** A foreign origin, like that of browser-based clients such as the MCP Inspector. */
const PAGE = 'https://coursegate-doctor.invalid';
const FORM_FIELDS = ['content-type', 'mcp-protocol-version'];
const MCP_FIELDS = [
  'authorization',
  'content-type',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
];

/** Whether apps in a browser can call everything they need. */
export const CORS = [
  ...checks(['resources', 'server'], {
    'cors.discovery': ({ ask, resources, server }) =>
      checkEach(
        'readable, also with MCP-Protocol-Version',
        [resources[0].answer.url, server.answer.url],
        async (url) => {
          const answer = await ask(url, { headers: { origin: PAGE } });
          const refused = mayNotRead(answer) ?? (await preflight(ask, url, 'GET', ['mcp-protocol-version']));
          return refused === undefined ? undefined : warning(`${where(answer)}: ${refused}`);
        },
      ),
  }),
  ...checks(['server'], {
    'cors.token'({ ask, server: { document } }) {
      const endpoints = [text(document.registration_endpoint), text(document.token_endpoint)];
      return checkPreflights(ask, endpoints, FORM_FIELDS);
    },
    'cors.credentials'({ ask, origin, path, server: { answer, document } }) {
      const endpoints = [text(document.token_endpoint), text(document.userinfo_endpoint)];
      return checkEach(
        'no origin is echoed with credentials',
        new Set([origin + path, answer.url, ...endpoints.filter((url) => url !== undefined)]),
        async (url) => {
          const read = await ask(url, { headers: { origin: PAGE } });
          const echoed = field(read, 'access-control-allow-origin') === PAGE;
          const trusted = /^true$/i.test(field(read, 'access-control-allow-credentials'));
          return echoed && trusted ? failure(`${where(read)} allows credentials for any origin`) : undefined;
        },
      );
    },
  }),
  ...checks(['mcp'], {
    'cors.mcp': ({ ask, mcp }) => checkPreflights(ask, [mcp.url], MCP_FIELDS),
  }),
  ...checks(['protectedEndpoints'], {
    'cors.exposed'({ ask, protectedEndpoints }) {
      const challenged = protectedEndpoints.filter(({ bad }) => bad.status === 401);
      if (challenged.length === 0) throw new Unavailable('no address requires a token');
      return checkEach('WWW-Authenticate is exposed', challenged, async ({ url, question }) => {
        const answer = await ask(url, withToken(question, 'coursegate-doctor', { origin: PAGE }));
        const refused = mayNotRead(answer);
        if (refused !== undefined) return warning(`${where(answer)}: ${refused}`);
        const isShown = list(answer, 'access-control-expose-headers').includes('www-authenticate');
        return isShown ? undefined : warning(`${where(answer)} does not expose WWW-Authenticate`);
      });
    },
  }),
];

function list(answer: SiteAnswer, name: string): readonly string[] {
  return field(answer, name)
    .toLowerCase()
    .split(/\s*,\s*/);
}

function mayNotRead(answer: SiteAnswer): string | undefined {
  const allowed = field(answer, 'access-control-allow-origin');
  if (allowed === '*' || allowed === PAGE) return undefined;
  return allowed === '' ? 'no Access-Control-Allow-Origin' : `Access-Control-Allow-Origin is ${allowed}`;
}

function checkPreflights(ask: Ask, urls: readonly (string | undefined)[], fields: readonly string[]) {
  const listed = urls.filter((url) => url !== undefined);
  return checkEach('the preflight is answered', listed, async (url) => {
    const refused = await preflight(ask, url, 'POST', fields);
    return refused === undefined ? undefined : warning(`${url}: ${refused}`);
  });
}

/** Why a browser would reject a preflight response; undefined when it would accept it. Every browser may GET and POST. */
async function preflight(
  ask: Ask,
  url: string,
  method: 'GET' | 'POST',
  fields: readonly string[],
): Promise<string | undefined> {
  const requested = { 'access-control-request-method': method, 'access-control-request-headers': fields.join(',') };
  const answer = await ask(url, { method: 'OPTIONS', headers: { origin: PAGE, ...requested } });
  if (answer.status < 200 || answer.status > 299) return `the preflight is answered ${answer.status}`;
  const unread = mayNotRead(answer);
  if (unread !== undefined) return `the preflight: ${unread}`;
  const allowed = list(answer, 'access-control-allow-headers');
  // The asterisk does not cover Authorization.
  const isAllowed = (name: string) => allowed.includes(name) || (name !== 'authorization' && allowed.includes('*'));
  const missing = fields.filter((name) => !isAllowed(name));
  return missing.length === 0 ? undefined : `the preflight does not allow ${missing.join(', ')}`;
}
