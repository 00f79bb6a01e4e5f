import manifest from '../../../../package.json' with { type: 'json' };
import { isHtml, redirectTarget, type SiteAnswer } from '../../doctor/answer.ts';
import { createAsk, type Question } from '../../doctor/ask.ts';
import { cookiesOf } from '../../doctor/backend/pages.ts';
import type { ExchangeLimits } from '../../doctor/unavailable.ts';

/** The site's responses to GET requests. Paths without a response have no entry. */
export interface SeenSite {
  readonly answers: ReadonlyMap<string, SiteAnswer>;
  /** The names of all cookies that the site set. */
  readonly cookies: ReadonlySet<string>;
  /** Why the site could not be reached; undefined when it answered. */
  readonly unreachable: string | undefined;
  /** The path and query to which `/` redirects; `/` if it does not. */
  readonly landing: string;
  /** Whether it stopped answering, so that what was seen is incomplete. */
  readonly gaveUp: boolean;
}

/** Sends requests without credentials. None throws because of how the site behaves. */
export type SiteProbe = ReturnType<typeof createProbe>;

const AGENT = `coursegate-init/${manifest.version} (looks at a site for its operator)`;
/** Some frameworks show their API to browsers as pages. */
const ACCEPT = { browser: 'text/html, application/json;q=0.9, */*;q=0.5', app: 'application/json, */*;q=0.5' };
const AT_ONCE = 4;
const MOST_COOKIES = 50;
const MOST_REDIRECTS = 4;
/** Bytes. As much as `upstreams.*.openapi.file` may have: API descriptions of large sites have about one MiB. */
const LONGEST_DOCUMENT = 4 * 1024 * 1024;
/** Characters of a page that are searched. */
const LONGEST_PAGE = 256 * 1024;
/** After this many requests in succession without an answer, no more are sent. */
const MOST_SILENT = 8;

/**
 * Creates a probe. Bodies and time are bounded, and only redirects within the site are followed. The site listens at
 * `upstream`, and expects its public `origin` in Host or X-Forwarded-Host.
 */
export function createProbe(
  { upstream, origin }: { readonly upstream: URL; readonly origin: URL },
  limits: ExchangeLimits,
) {
  const ask = createAsk({ origin: upstream.origin, ...limits });
  const prefix = upstream.pathname.replace(/\/$/, '');
  const headers = {
    ...(upstream.protocol === 'http:' ? { host: origin.host } : {}),
    'x-forwarded-proto': origin.protocol.slice(0, -1),
    'x-forwarded-host': origin.host,
  };
  const answers = new Map<string, SiteAnswer>();
  const asked = new Set<string>();
  const cookies = new Set<string>();
  let unreachable: string | undefined;
  let silent = 0;
  let landing = '/';
  const seen = (): SeenSite => ({ answers, cookies, unreachable, landing, gaveUp: silent >= MOST_SILENT });

  const send = async (path: string, question: Question = {}): Promise<SiteAnswer> => {
    const answer = await ask(`${upstream.origin}${prefix}${path}`, {
      ...question,
      headers: { ...headers, ...question.headers },
      agent: AGENT,
      longest: LONGEST_DOCUMENT,
    });
    for (const { name } of cookiesOf(answer)) {
      if (cookies.size < MOST_COOKIES && /^[\w.-]{1,100}$/.test(name)) cookies.add(name);
    }
    // A document that is too long is of no use. A part of a string would keep all of it in memory.
    if (!answer.cut && !isHtml(answer)) return answer;
    return { ...answer, text: Buffer.from(answer.text.slice(0, LONGEST_PAGE)).toString('utf8') };
  };

  const get = async (path: string, accept: string): Promise<SiteAnswer> => {
    let at = path;
    // As a browser does: a site may set a cookie and look for it at the next address.
    const jar = new Map<string, string>();
    for (let redirects = 0; ; redirects += 1) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await send(at, { headers: { accept, ...(cookie === '' ? {} : { cookie }) } });
      if (path === '/') landing = at;
      for (const { name, value } of cookiesOf(answer)) if (jar.size < MOST_COOKIES) jar.set(name, value);
      const next = redirectTarget(answer);
      const isOwn = next !== undefined && (next.host === upstream.host || next.host === origin.host);
      if (!isOwn || redirects === MOST_REDIRECTS) return answer;
      const wanted = next.pathname.startsWith(`${prefix}/`) ? next.pathname.slice(prefix.length) : next.pathname;
      at = wanted + next.search;
    }
  };

  return {
    /** Requests paths that were not requested before, as a browser or as an app does, and returns everything seen so far. */
    async request(paths: readonly string[], as: 'browser' | 'app' = 'browser'): Promise<SeenSite> {
      if (unreachable !== undefined) return seen();
      const left = paths.filter((path) => !asked.has(path));
      for (const path of left) asked.add(path);
      if (answers.size === 0) {
        // Whether it can be reached at all: one request, before many wait in vain.
        const [first = '/'] = left.splice(0, 1);
        try {
          answers.set(first, await get(first, ACCEPT[as]));
        } catch (thrown) {
          unreachable = thrown instanceof Error ? thrown.message : String(thrown);
          return seen();
        }
      }
      const work = async (): Promise<void> => {
        for (let path = left.shift(); path !== undefined && silent < MOST_SILENT; path = left.shift()) {
          const answer = await get(path, ACCEPT[as]).catch(() => undefined);
          silent = answer === undefined ? silent + 1 : 0;
          if (answer !== undefined) answers.set(path, answer);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return seen();
    },
    /** Posts to a path. Undefined if there is no response. */
    post: (path: string, type: string, body: string): Promise<SiteAnswer | undefined> =>
      send(path, { method: 'POST', headers: { 'content-type': type, accept: ACCEPT.app }, body }).catch(
        () => undefined,
      ),
  };
}
