/** A browser without a screen: fetch, manual redirects, and one cookie jar per origin. */
export class CookieBrowser {
  readonly #jars = new Map<string, Map<string, string>>();

  /** Sends one request and does not follow redirects. */
  async request(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address);
    const jar = this.#jars.get(url.origin) ?? new Map<string, string>();
    this.#jars.set(url.origin, jar);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';', 1)[0]?.split(/=(.*)/s) ?? [];
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until a response is not one, or until `stop` returns true for the next URL. */
  async follow(
    address: string | URL,
    stop: (next: URL) => boolean = () => false,
  ): Promise<{ url: URL; response: Response }> {
    let url = new URL(address);
    for (let hop = 0; hop < 20; hop += 1) {
      const response = await this.request(url);
      const location = response.headers.get('location');
      if (location === null) return { url, response };
      await response.body?.cancel();
      url = new URL(location, url);
      if (stop(url)) return { url, response };
    }
    throw new Error(`too many redirects, last to ${url.href}`);
  }

  /** Submits a form. */
  async post(
    address: string | URL,
    fields: [string, string][] = [],
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.request(address, { method: 'POST', body: new URLSearchParams(fields), headers });
  }
}
