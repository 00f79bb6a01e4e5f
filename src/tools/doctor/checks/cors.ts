import { type Answer, field, text, where } from '../answer.ts';
import { check } from '../check.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';

/** A foreign origin, like that of browser-based clients such as the MCP Inspector. */
const PAGE = 'https://coursegate-doctor.invalid';
const REFERENCE = 'Fetch section 3.2 (CORS protocol)';

/** Whether apps in a browser can call everything they need. */
export const CORS = [
  check({
    id: 'cors.discovery',
    title: 'Browser apps can read the metadata',
    reference: REFERENCE,
    fix: 'Send Access-Control-Allow-Origin: * with the metadata, and allow MCP-Protocol-Version in its preflight.',
    needs: ['resources', 'server'],
    async run(site, { resources, server }) {
      const problems: Verdict[] = [];
      for (const url of [resources[0].answer.url, server.answer.url]) {
        const answer = await site.ask(url, { headers: { origin: PAGE } });
        const refused = mayNotRead(answer) ?? (await preflight(site, url, 'GET', ['mcp-protocol-version']));
        if (refused !== undefined) problems.push(warning(`${where(answer)}: ${refused}`));
      }
      return problemsOr(problems, 'readable, also with MCP-Protocol-Version');
    },
  }),
  check({
    id: 'cors.token',
    title: 'Browser apps can fetch tokens',
    reference: REFERENCE,
    fix: 'Answer the preflight of the token endpoint: Access-Control-Allow-Origin: *, and Content-Type and MCP-Protocol-Version allowed.',
    needs: ['server'],
    run: (site, { server }) =>
      judgePreflight(site, text(server.document.token_endpoint), ['content-type', 'mcp-protocol-version']),
  }),
  check({
    id: 'cors.registration',
    title: 'Browser apps can register',
    reference: REFERENCE,
    fix: 'Answer the preflight of the registration endpoint: Access-Control-Allow-Origin: *, and Content-Type and MCP-Protocol-Version allowed.',
    needs: ['server'],
    run: (site, { server }) =>
      judgePreflight(site, text(server.document.registration_endpoint), ['content-type', 'mcp-protocol-version']),
  }),
  check({
    id: 'cors.mcp',
    title: 'Browser apps can use the tools',
    reference: REFERENCE,
    fix: 'Answer the preflight of the tool interface: allow POST, and Authorization, Content-Type, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name by name (* does not cover Authorization).',
    needs: ['mcp'],
    run: (site, { mcp }) =>
      judgePreflight(site, mcp.url, [
        'authorization',
        'content-type',
        'mcp-protocol-version',
        'mcp-session-id',
        'mcp-method',
        'mcp-name',
      ]),
  }),
  check({
    id: 'cors.exposed',
    title: 'Browser apps can read the challenge',
    reference: `${REFERENCE}, RFC 9728 section 5.1`,
    fix: 'Send Access-Control-Allow-Origin and Access-Control-Expose-Headers: WWW-Authenticate with every 401 and 403.',
    needs: ['protectedEndpoints'],
    async run({ ask }, { protectedEndpoints }) {
      const problems: Verdict[] = [];
      let challenged = 0;
      for (const { url, question, bad } of protectedEndpoints) {
        if (bad.status !== 401) continue;
        challenged += 1;
        const answer = await ask(url, {
          ...question,
          headers: { ...question.headers, origin: PAGE, authorization: 'Bearer coursegate-doctor' },
        });
        const refused = mayNotRead(answer);
        const shown = list(field(answer, 'access-control-expose-headers'));
        if (refused !== undefined) problems.push(warning(`${where(answer)}: ${refused}`));
        else if (!shown.includes('www-authenticate'))
          problems.push(warning(`${where(answer)} does not expose WWW-Authenticate`));
      }
      if (challenged === 0) throw new Unavailable('no address requires a token');
      return problemsOr(problems, 'WWW-Authenticate is exposed');
    },
  }),
  check({
    id: 'cors.credentials',
    title: 'Foreign origins cannot use the member’s cookies',
    reference: REFERENCE,
    fix: 'Never send Access-Control-Allow-Credentials: true together with an origin that is echoed from the request.',
    needs: ['server'],
    async run({ ask, origin, path }, { server }) {
      const problems: Verdict[] = [];
      const urls = [
        `${origin}${path}`,
        server.answer.url,
        text(server.document.token_endpoint),
        text(server.document.userinfo_endpoint),
      ];
      for (const url of new Set(urls)) {
        if (url === undefined) continue;
        const answer = await ask(url, { headers: { origin: PAGE } });
        if (
          field(answer, 'access-control-allow-origin') === PAGE &&
          /^true$/i.test(field(answer, 'access-control-allow-credentials'))
        )
          problems.push(failure(`${where(answer)} allows credentials for any origin`));
      }
      return problemsOr(problems, 'no origin is echoed with credentials');
    },
  }),
] as const;

const list = (value: string) =>
  value
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());

function mayNotRead(answer: Answer): string | undefined {
  const allowed = field(answer, 'access-control-allow-origin');
  if (allowed === '*' || allowed === PAGE) return undefined;
  return allowed === '' ? 'no Access-Control-Allow-Origin' : `Access-Control-Allow-Origin is ${allowed}`;
}

async function judgePreflight(site: Site, url: string | undefined, fields: readonly string[]): Promise<Verdict> {
  if (url === undefined) throw new Unavailable('there is no such endpoint');
  const refused = await preflight(site, url, 'POST', fields);
  return refused === undefined ? pass('the preflight is answered') : warning(refused);
}

/** Why a browser would reject a preflight response; undefined when it would accept it. */
async function preflight(
  site: Site,
  url: string,
  method: string,
  fields: readonly string[],
): Promise<string | undefined> {
  const answer = await site.ask(url, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': method,
      'access-control-request-headers': fields.join(','),
    },
  });
  if (answer.status < 200 || answer.status > 299) return `the preflight is answered ${answer.status}`;
  const unread = mayNotRead(answer);
  if (unread !== undefined) return `the preflight: ${unread}`;
  const methods = list(field(answer, 'access-control-allow-methods'));
  if (!['GET', 'HEAD', 'POST'].includes(method) && !methods.includes(method.toLowerCase()))
    return `the preflight does not allow ${method}`;
  const allowed = list(field(answer, 'access-control-allow-headers'));
  // The asterisk does not cover Authorization.
  const missing = fields.filter(
    (name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')),
  );
  return missing.length === 0 ? undefined : `the preflight does not allow ${missing.join(', ')}`;
}
