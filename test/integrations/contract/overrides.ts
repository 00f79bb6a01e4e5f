/** Where frameworks read a method that replaces the one that was sent. */
export type OverridePlace = 'query' | 'form' | 'multipart' | 'json' | 'header';

/** A request to `/method` in which one of these places names a method. */
interface Override {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
}

export const OVERRIDES: Readonly<Record<OverridePlace, (method: string) => Override>> = {
  query: (method) => ({ path: `/method?_method=${method}`, headers: {} }),
  form: (method) => ({ path: '/method', headers: {}, body: new URLSearchParams({ _method: method }) }),
  multipart: (method) => {
    const body = new FormData();
    body.set('_method', method);
    return { path: '/method', headers: {}, body };
  },
  json: (method) => ({
    path: '/method',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ _method: method }),
  }),
  header: (method) => ({ path: '/method', headers: { 'x-http-method-override': method } }),
};
