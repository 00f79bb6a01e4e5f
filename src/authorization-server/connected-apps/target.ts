import { ENDPOINTS } from '../endpoints.ts';

/** What a member wants to disconnect: all, one app, or one of its connections. */
export type Target =
  | { readonly kind: 'all' }
  | { readonly kind: 'app'; readonly clientId: string }
  | { readonly kind: 'connection'; readonly id: string };

/** In: a query, or a form. Out: what it names; undefined when that is nothing. */
export function targetOf(parameters: URLSearchParams): Target | undefined {
  const [clientId, id] = [parameters.get('app'), parameters.get('connection')];
  if (clientId !== null) return { kind: 'app', clientId };
  if (id !== null) return { kind: 'connection', id };
  return parameters.has('all') ? { kind: 'all' } : undefined;
}

/** As `targetOf` reads it. */
export function fieldsOf(target: Target): Readonly<Record<string, string>> {
  if (target.kind === 'app') return { app: target.clientId };
  return target.kind === 'connection' ? { connection: target.id } : { all: '' };
}

/** What the pages pass on to each other: the languages that the link to them asked for. */
export type Carried = { readonly ui_locales?: string };

/** In: a query, or a form. No browser's address need bear more than this. */
export function carriedBy(parameters: URLSearchParams): Carried {
  const wish = parameters.get('ui_locales');
  return wish !== null && /^[A-Za-z0-9 -]{1,100}$/.test(wish) ? { ui_locales: wish } : {};
}

/** The page that asks whether to. */
export function disconnectPath(target: Target, carried: Carried): string {
  return `${ENDPOINTS.apps}/disconnect?${new URLSearchParams({ ...fieldsOf(target), ...carried })}`;
}

/** The list. */
export function appsPath(parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? ENDPOINTS.apps : `${ENDPOINTS.apps}?${query}`;
}
