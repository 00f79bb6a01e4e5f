import { isHtml, redirectTarget } from '../../answer.ts';
import { checkEach, failure } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { listingChecks } from '../listing.ts';

/** Redirects before the first page. */
const MOST_STEPS = 5;
/** A shorter value of a field may equal that of a cookie by chance. */
const SHORTEST_TOKEN = 8;

/**
 * The sign-in in an embedded web view: a browser with a cookie jar of its own, to which an assistant sends the member from
 * its own site.
 */
export const CONSENT = listingChecks(['authorization'], {
  async 'consent.csrf'({ authorization, ask, origin }) {
    let page = authorization.good.answer;
    const set = [...(page.headers['set-cookie'] ?? [])];
    const pairs = () => set.map((line) => line.split(';')[0] ?? '');
    for (let step = 0; redirectTarget(page)?.origin === origin && step < MOST_STEPS; step += 1) {
      const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      page = await ask(redirectTarget(page)?.href ?? '', { headers: { ...headers, cookie: pairs().join('; ') } });
      set.push(...(page.headers['set-cookie'] ?? []));
    }
    if (!isHtml(page)) throw new Unavailable('the first page of the sign-in is on another site: try it in a web view');
    const fields = [...page.text.matchAll(/<input\b[^>]{0,500}\bvalue="([^"]{1,4000})"/gi)].map(([, value]) => value);
    return checkEach('no form repeats a cookie, and no cookie is SameSite=Strict', set, (line) => {
      const [, name, value = ''] = /^([^=;]*)=([^;]*)/.exec(line) ?? [];
      return [
        value.length >= SHORTEST_TOKEN && fields.includes(value) && failure(`a form repeats the cookie ${name}`),
        /;\s{0,9}samesite=strict/i.test(line) && failure(`${name} is SameSite=Strict`),
      ];
    });
  },
});
