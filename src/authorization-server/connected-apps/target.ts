import { ENDPOINTS } from '../endpoints.ts';
import type { StandingGrant } from '../grants.ts';

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

/** Those of a member's grants that a target means. */
export function meantBy(target: DisconnectTarget, grants: readonly StandingGrant[]): readonly StandingGrant[] {
  if (target.kind === 'all') return grants;
  return grants.filter(({ id, clientId }) => (target.kind === 'app' ? clientId === target.clientId : id === target.id));
}

/**
 * What the pages pass on to each other: the languages that the first link requested, and what part of the list was shown,
 * so that the member returns to it.
 */
export type CarriedParameters = Partial<Readonly<Record<keyof typeof CARRIED, string>>>;

const CARRIED = {
  ui_locales: /^[A-Za-z0-9 -]{1,100}$/,
  /** Part of a name or host. */
  q: /^.{1,100}$/su,
  sort: /^(?:name|connected)$/,
  show: /^(?:change|unused)$/,
  page: /^[1-9]\d{0,3}$/,
} as const;

/** Parses a query or a form. Other or longer values are dropped. */
export function carriedBy(parameters: URLSearchParams): CarriedParameters {
  return Object.fromEntries(
    Object.entries(CARRIED).flatMap(([name, form]) => {
      const value = parameters.get(name)?.trim() ?? '';
      return form.test(value) ? [[name, value]] : [];
    }),
  );
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
export function appsPath(parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return given.length === 0 ? ENDPOINTS.apps : `${ENDPOINTS.apps}?${new URLSearchParams(given)}`;
}
