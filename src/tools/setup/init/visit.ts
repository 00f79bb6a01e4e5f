import manifest from '../../../../package.json' with { type: 'json' };
import { type Answer, redirectTarget } from '../../doctor/answer.ts';
import { createAsk } from '../../doctor/ask.ts';

/** The site's responses. Paths without a response have no entry. */
export interface Visit {
  readonly answers: ReadonlyMap<string, Answer>;
  /** The names of all cookies that the site set. */
  readonly cookies: readonly string[];
  /** Why the site could not be reached; undefined when it answered. */
  readonly unreachable: string | undefined;
}

export interface VisitOptions {
  /** Where the site listens. */
  readonly upstream: URL;
  /** The public origin, which the site expects in Host or X-Forwarded-Host. */
  readonly origin: URL;
  readonly signal: AbortSignal;
  /** Milliseconds for one request. */
  readonly patience: number;
}

const AGENT = `coursegate-init/${manifest.version} (looks at a site for its operator)`;
const AT_ONCE = 4;
const MOST_REDIRECTS = 3;

/**
 * Requests `paths` from a site, without credentials. Bodies and time are bounded, and only redirects within the site
 * are followed. Never throws because of how the site behaves.
 */
export async function visit(paths: readonly string[], options: VisitOptions): Promise<Visit> {
  const { upstream, origin, signal, patience } = options;
  const ask = createAsk({ origin: upstream.origin, signal, patience });
  const prefix = upstream.pathname.replace(/\/$/, '');
  const headers = {
    ...(upstream.protocol === 'http:' ? { host: origin.host } : {}),
    accept: 'text/html, application/json;q=0.9, */*;q=0.5',
    'x-forwarded-proto': origin.protocol.slice(0, -1),
    'x-forwarded-host': origin.host,
  };
  const answers = new Map<string, Answer>();
  const cookies = new Set<string>();

  const get = async (path: string): Promise<Answer> => {
    let at = path;
    for (let redirects = 0; ; redirects += 1) {
      const answer = await ask(`${upstream.origin}${prefix}${at}`, { headers, agent: AGENT });
      for (const line of answer.headers['set-cookie'] ?? []) {
        const name = (line.split('=', 1)[0] ?? '').trim();
        if (cookies.size < 50 && /^[\w.-]{1,100}$/.test(name)) cookies.add(name);
      }
      const next = redirectTarget(answer);
      const isOwn = next !== undefined && (next.host === upstream.host || next.host === origin.host);
      if (!isOwn || redirects === MOST_REDIRECTS) return answer;
      const wanted = next.pathname.startsWith(`${prefix}/`) ? next.pathname.slice(prefix.length) : next.pathname;
      at = wanted + next.search;
    }
  };

  try {
    answers.set('/', await get('/'));
  } catch (thrown) {
    return { answers, cookies: [], unreachable: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  const left = paths.filter((path) => path !== '/');
  const work = async (): Promise<void> => {
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      const answer = await get(path).catch(() => undefined);
      if (answer !== undefined) answers.set(path, answer);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { answers, cookies: [...cookies], unreachable: undefined };
}
