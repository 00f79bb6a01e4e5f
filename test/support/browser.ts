/** A browser without a screen: scopes cookies by path, follows redirects itself, reads forms from the page. */
export interface Browser {
  /** Follows redirects while `follow` returns true. The returned page is the last response. */
  open(url: string, follow?: (location: string) => boolean): Promise<Page>;
  submit(page: Page, fields: Record<string, string | string[]>, follow?: (location: string) => boolean): Promise<Page>;
  readonly cookies: Map<string, { value: string; path: string }>;
}

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Set when the response was a redirect that was not followed. */
  readonly location: string | undefined;
}

/** @param fields - sent with every request, such as those of a proxy in front of the gate */
export function createBrowser(fields: Readonly<Record<string, string>> = {}): Browser {
  const cookies = new Map<string, { value: string; path: string }>();
  /**
   * Cookies displaced from the map by one of the same name and another path. A cookie is identified by name, domain and
   * path (RFC 6265 section 5.3).
   */
  const besides = new Map<string, { name: string; value: string; path: string }>();

  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname } = new URL(url);
    const cookie = [...[...cookies].map(([name, held]) => ({ name, ...held })), ...besides.values()]
      .filter(
        ({ path }) => path === '/' || pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`),
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = {
      accept: 'text/html',
      ...fields,
      ...(cookie === '' ? {} : { cookie }),
      ...(init.headers as Record<string, string>),
    };
    const response = await fetch(url, { ...init, redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) store(cookies, besides, line);
    return response;
  };

  const settle = async (url: string, first: Response, follow: (location: string) => boolean): Promise<Page> => {
    let at = url;
    let response = first;
    for (let hops = 0; hops < 20; hops += 1) {
      const header = response.headers.get('location');
      const location = header === null ? undefined : new URL(header, at).href;
      if (location === undefined || response.status < 300 || response.status >= 400 || !follow(location)) {
        return { url: at, status: response.status, headers: response.headers, text: await response.text(), location };
      }
      await response.arrayBuffer();
      at = location;
      response = await send(at, {});
    }
    throw new Error(`more than 20 redirects, last at ${at}`);
  };

  return {
    cookies,
    async open(url, follow = () => true) {
      return settle(url, await send(url, {}), follow);
    },
    async submit(page, fields, follow = () => true) {
      const action = /<form[^>]*\baction="([^"]*)"/.exec(page.text)?.[1];
      const url = new URL(decodeEntities(action ?? ''), page.url).href;
      const body = new URLSearchParams();
      for (const [input] of page.text.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
        body.append(attribute(input, 'name'), attribute(input, 'value'));
      }
      for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
      return settle(url, await send(url, { method: 'POST', body }), follow);
    },
  };
}

function store(
  cookies: Map<string, { value: string; path: string }>,
  besides: Map<string, { name: string; value: string; path: string }>,
  line: string,
): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const name = pair.slice(0, pair.indexOf('='));
  const value = pair.slice(pair.indexOf('=') + 1);
  const path = attributes.find((part) => /^path=/i.test(part))?.slice(5) ?? '/';
  const gone = attributes.some((part) => /^max-age=0$/i.test(part) || /^expires=Thu, 01 Jan 1970/i.test(part));
  const held = cookies.get(name);
  besides.delete(`${name};${path}`);
  if (gone || value === '') {
    if (held?.path === path) cookies.delete(name);
    return;
  }
  if (held !== undefined && held.path !== path) besides.set(`${name};${held.path}`, { name, ...held });
  cookies.set(name, { value, path });
}

function attribute(tag: string, name: string): string {
  return decodeEntities(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

function decodeEntities(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
