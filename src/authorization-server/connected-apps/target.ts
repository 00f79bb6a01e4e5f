import { ENDPOINTS } from '../endpoints.ts';

/** What to disconnect: all apps, one app, or one connection of an app. */
export type DisconnectTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'app'; readonly clientId: string }
  | { readonly kind: 'connection'; readonly id: string };

/** Parses the target from a query or a form; undefined when there is none. */
export function targetOf(parameters: URLSearchParams): DisconnectTarget | undefined {
  const [clientId, id] = [parameters.get('app'), parameters.get('connection')];
  if (clientId !== null) return { kind: 'app', clientId };
  if (id !== null) return { kind: 'connection', id };
  return parameters.has('all') ? { kind: 'all' } : undefined;
}

/** The inverse of `targetOf`. */
export function fieldsOf(target: DisconnectTarget): Readonly<Record<string, string>> {
  if (target.kind === 'app') return { app: target.clientId };
  return target.kind === 'connection' ? { connection: target.id } : { all: '' };
}

/** What the pages pass on to each other: the languages that the first link requested. */
export type CarriedParameters = { readonly ui_locales?: string };

/** Parses `ui_locales`, which may be any value that was sent. Other or longer values are dropped. */
export function carriedFrom(wish: unknown): CarriedParameters {
  return typeof wish === 'string' && /^[A-Za-z0-9 -]{1,100}$/.test(wish) ? { ui_locales: wish } : {};
}

/** The page about one app. */
export function detailsPath(clientId: string, carried: CarriedParameters): string {
  return `${ENDPOINTS.apps}/app?${new URLSearchParams({ ...fieldsOf({ kind: 'app', clientId }), ...carried })}`;
}

/** The confirmation page. */
export function disconnectPath(target: DisconnectTarget, carried: CarriedParameters): string {
  return `${ENDPOINTS.apps}/disconnect?${new URLSearchParams({ ...fieldsOf(target), ...carried })}`;
}

/** The list. */
export function appsPath(parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? ENDPOINTS.apps : `${ENDPOINTS.apps}?${query}`;
}
