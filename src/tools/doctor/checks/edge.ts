import { type Answer, isHtml, mediaType, redirectTarget, where } from '../answer.ts';
import type { Question } from '../ask.ts';
import { check } from '../check.ts';
import { edgeOf, isPuzzle } from '../edges.ts';
import { INITIALIZE } from '../facts/mcp-endpoint.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import type { Site } from '../site.ts';
import { NoAnswer } from '../unavailable.ts';

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

/** User-Agents of assistants, from general knowledge rather than from captured traffic. Bot rules match the names. */
const ASSISTANTS = {
  'Claude-User':
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)',
  'ChatGPT-User':
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)',
  'openai-mcp': 'openai-mcp/1.0.0',
} as const;

/** User-Agents of the libraries that assistants, desktop apps and scripts use; null sends none. */
const LIBRARIES = {
  'python-httpx': 'python-httpx/0.28.1',
  node: 'node',
  'Go-http-client': 'Go-http-client/2.0',
  curl: 'curl/8.14.1',
  'no User-Agent': null,
} as const;

/** Whether CDN, firewall and proxies in front of the site let agents through. */
export const EDGE = [
  check({
    id: 'edge.assistants',
    title: 'Assistants get the same answers as browsers',
    reference: 'RFC 9110 section 10.1.5',
    fix: 'Look for a rule against bots or AI in your CDN, WAF, host or security plug-in, and exclude the gate’s paths from it. Blocks by IP address cannot be detected from here.',
    needs: [],
    run: (site) => compareAgents(site, ASSISTANTS, failure),
  }),
  check({
    id: 'edge.libraries',
    title: 'Programs get the same answers as browsers',
    reference: 'RFC 9110 section 10.1.5',
    fix: 'Exclude the gate’s paths from rules on User-Agents (python, curl, Go, none): apps and the backends of assistants are programs.',
    needs: [],
    run: (site) => compareAgents(site, LIBRARIES, warning),
  }),
  check({
    id: 'edge.puzzle',
    title: 'No captcha or browser check is in the way',
    reference: 'RFC 9110 section 15.5.4',
    fix: 'Exclude the gate’s paths from captchas and browser checks ("Under Attack" mode too): apps cannot solve them.',
    needs: ['wellKnown'],
    async run(site, { wellKnown }) {
      const browser = await site.askAsIs(`${site.origin}${site.path}`, {
        agent: BROWSER,
        headers: { accept: 'text/html' },
      });
      const answers = [browser, ...wellKnown.flatMap(({ answer }) => (answer === undefined ? [] : [answer]))];
      const puzzles = answers.filter(isPuzzle);
      return problemsOr(
        puzzles
          .slice(0, 1)
          .map((answer) =>
            failure(
              `${where(answer)} is a captcha or browser check (${answer.status})${named(answer)}`,
              edgeOf(answer)?.fix,
            ),
          ),
        'none found',
      );
    },
  }),
  check({
    id: 'edge.methods',
    title: 'Every method gets through',
    reference: 'MCP 2025-11-25, Streamable HTTP; RFC 9110 section 9',
    fix: 'Let GET, POST, DELETE and OPTIONS of the tool interface through (PUT and DELETE of registrations too): firewalls often allow only GET and POST.',
    needs: ['mcp'],
    async run({ ask }, { mcp: { url } }) {
      for (const method of ['POST', 'DELETE', 'OPTIONS']) {
        const body = method === 'POST' ? { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' } : {};
        const answer = await ask(url, {
          method,
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          ...body,
        });
        const edge = edgeOf(answer);
        const refused = [403, 405, 501].includes(answer.status);
        if (refused && (edge !== undefined || isHtml(answer)))
          return warning(
            `${method} gets ${answer.status} from ${edge?.name ?? 'something in front of the gate'}`,
            edge?.fix,
          );
      }
      return pass('POST, DELETE and OPTIONS are answered by the gate itself');
    },
  }),
  check({
    id: 'edge.body-size',
    title: 'A request of one megabyte gets through',
    reference: 'RFC 9110 section 15.5.14',
    fix: 'Raise the limit of your proxy: nginx "client_max_body_size 8m", Apache LimitRequestBody, the firewall’s body limit.',
    needs: ['mcp'],
    async run({ ask }, { mcp: { url } }) {
      const padding = 'x'.repeat(1_000_000);
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'ping',
        params: { _meta: { 'coursegate.doctor/padding': padding } },
      });
      const answer = await ask(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body,
      });
      if (answer.status === 413) return warning(`413${isHtml(answer) ? ', from something in front of the gate' : ''}`);
      return isHtml(answer) || answer.status >= 500
        ? warning(`it gets ${answer.status} ${mediaType(answer)}`)
        : pass(`${answer.status}`);
    },
  }),
] as const;

/** Sends the same requests as a browser and as each agent. A difference is a finding. */
async function compareAgents(
  site: Site,
  agents: Readonly<Record<string, string | null>>,
  problem: (seen: string, fix?: string) => Verdict,
): Promise<readonly Verdict[]> {
  const problems: Verdict[] = [];
  const mcp = site.path === '' ? '/mcp' : site.path;
  for (const [path, question] of [
    ['/.well-known/oauth-protected-resource', {}],
    [mcp, INITIALIZE],
  ] as const) {
    const url = `${site.origin}${path}`;
    const browser = await kindOfAnswer(site, url, { ...question, agent: BROWSER });
    for (const [name, agent] of Object.entries(agents)) {
      const { kind, answer } = await kindOfAnswer(site, url, { ...question, agent });
      if (kind === browser.kind) continue;
      const edge = answer === undefined ? undefined : edgeOf(answer);
      const puzzle = answer !== undefined && isPuzzle(answer) ? ', a captcha or browser check' : '';
      problems.push(
        problem(
          `${name} gets ${kind}${puzzle} at ${path}, a browser ${browser.kind}${edge === undefined ? '' : `: ${edge.name}`}`,
          edge?.fix,
        ),
      );
    }
  }
  return problemsOr(problems, Object.keys(agents).join(', '));
}

/** Summarises a response by status, media type and redirect target. */
async function kindOfAnswer(site: Site, url: string, question: Question): Promise<{ kind: string; answer?: Answer }> {
  try {
    const answer = await site.askAsIs(url, question);
    const target = redirectTarget(answer);
    return { kind: `${answer.status} ${target?.pathname ?? mediaType(answer)}`.trim(), answer };
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return { kind: `no answer (${thrown.message})` };
    throw thrown;
  }
}

function named(answer: Answer): string {
  const edge = edgeOf(answer);
  return edge === undefined ? '' : ` of ${edge.name}`;
}
