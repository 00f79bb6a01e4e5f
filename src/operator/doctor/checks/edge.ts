import { isHtml, mediaType, redirectTarget, type SiteAnswer, where } from '../answer.ts';
import type { Question } from '../ask.ts';
import { edgeOf, isPuzzle } from '../edges.ts';
import { INITIALIZE, mcpQuestion } from '../facts/mcp-endpoint.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../finding.ts';
import { checks, type ExaminedSite } from '../site.ts';
import { NoAnswer, orNone, Unavailable } from '../unavailable.ts';

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

/** User-Agents of assistants, from general knowledge rather than from captured traffic. Bot rules match the names. */
const ASSISTANTS = {
  'Claude-User':
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)',
  'ChatGPT-User':
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)',
  'openai-mcp': 'openai-mcp/1.0.0',
};

/** User-Agents of the libraries that assistants, desktop apps and scripts use; null sends none. */
const LIBRARIES = {
  'python-httpx': 'python-httpx/0.28.1',
  node: 'node',
  'Go-http-client': 'Go-http-client/2.0',
  curl: 'curl/8.14.1',
  'no User-Agent': null,
};

/** Whether CDN, firewall and proxies in front of the site let agents through. */
export const EDGE = [
  ...checks([], {
    'edge.assistants': (site) => compareAgents(site, ASSISTANTS, failure),
    'edge.libraries': (site) => compareAgents(site, LIBRARIES, warning),
  }),
  ...checks(['wellKnown'], {
    async 'edge.puzzle'({ askAsIs, origin, path, wellKnown }) {
      const browser = await askAsIs(origin + path, { agent: BROWSER, headers: { accept: 'text/html' } });
      const answers = [browser, ...wellKnown.map(({ answer }) => answer)];
      const puzzle = answers.find((answer) => answer !== undefined && isPuzzle(answer));
      if (puzzle === undefined) return pass('none found');
      const edge = edgeOf(puzzle);
      const whose = edge === undefined ? '' : ` of ${edge.name}`;
      return failure(`${where(puzzle)} is a captcha or browser check (${puzzle.status})${whose}`, edge?.fix);
    },
  }),
  ...checks(['mcp'], {
    async 'edge.methods'({ ask, mcp: { url } }) {
      for (const method of ['POST', 'DELETE', 'OPTIONS']) {
        const { headers = {}, body = '' } = mcpQuestion('ping');
        const answer = await ask(url, { method, headers, ...(method === 'POST' ? { body } : {}) });
        const edge = edgeOf(answer);
        if (![403, 405, 501].includes(answer.status) || (edge === undefined && !isHtml(answer))) continue;
        const from = edge?.name ?? 'something in front of the gate';
        return warning(`${method} gets ${answer.status} from ${from}`, edge?.fix);
      }
      return pass('POST, DELETE and OPTIONS are answered by the gate itself');
    },
    async 'edge.body-size'({ ask, mcp: { url } }) {
      const padding = { _meta: { 'coursegate.doctor/padding': 'x'.repeat(1_000_000) } };
      const answer = await orNone(ask(url, mcpQuestion('ping', padding)));
      if (answer?.status === 413) return warning(`413${isHtml(answer) ? ', from something in front of the gate' : ''}`);
      if (answer !== undefined && !isHtml(answer) && answer.status < 500) return pass(`${answer.status}`);
      // Is it the size, or is the gate gone? Throws NoAnswer.
      const small = await ask(url, mcpQuestion('ping'));
      if (answer === undefined) return warning('the connection is closed before an answer');
      if (small.status === answer.status) throw new Unavailable(`a small request gets ${small.status} too`);
      return warning(`it gets ${answer.status} ${mediaType(answer)}`);
    },
  }),
];

/** Sends the same requests as a browser and as each agent. A difference is a finding. */
function compareAgents(
  site: ExaminedSite,
  agents: Readonly<Record<string, string | null>>,
  problem: (seen: string, fix?: string) => Verdict,
): Promise<readonly Verdict[]> {
  const questions = { '/.well-known/oauth-protected-resource': {}, [site.path || '/mcp']: INITIALIZE };
  return checkEach(Object.keys(agents).join(', '), Object.entries(questions), async ([path, question]) => {
    const problems: Verdict[] = [];
    const browser = await kindOfAnswer(site, path, { ...question, agent: BROWSER });
    for (const [name, agent] of Object.entries(agents)) {
      const { kind, answer } = await kindOfAnswer(site, path, { ...question, agent });
      if (kind === browser.kind) continue;
      const edge = answer && edgeOf(answer);
      const puzzle = answer && isPuzzle(answer) ? ', a captcha or browser check' : '';
      const from = edge ? `: ${edge.name}` : '';
      problems.push(problem(`${name} gets ${kind}${puzzle} at ${path}, a browser ${browser.kind}${from}`, edge?.fix));
    }
    return problems;
  });
}

/** Summarises a response by status, media type and redirect target. */
async function kindOfAnswer(
  site: ExaminedSite,
  path: string,
  question: Question,
): Promise<{ kind: string; answer?: SiteAnswer }> {
  try {
    const answer = await site.askAsIs(site.origin + path, question);
    const target = redirectTarget(answer);
    return { kind: `${answer.status} ${target?.pathname ?? mediaType(answer)}`.trim(), answer };
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return { kind: `no answer (${thrown.message})` };
    throw thrown;
  }
}
