import type { IncomingMessage } from 'node:http';

export const ROOT = '/console';

const LONGEST = 1024;

/** What is before ROOT in the addresses that the browser has: empty, or `/schools/NAME` in a process with many schools. */
export function mountOf(request: IncomingMessage): string {
  return (request as { readonly baseUrl?: string }).baseUrl ?? '';
}

/** Whether a target that came from outside is a path of the console. */
export function isConsolePath(target: string): boolean {
  return target.length <= LONGEST && /^\/console(?:[/?][!-~]*)?$/.test(target);
}

/** A path of the console. Ids may be URLs: each part is percent-encoded. */
export function pathOf(...parts: readonly string[]): string {
  return [ROOT, ...parts.map(encodeURIComponent)].join('/');
}

export const pathOfMember = (id: string) => pathOf('members', id);
export const pathOfApp = (id: string) => pathOf('apps', id);
export const pathOfGrant = (id: string) => pathOf('grants', id);

/** Adds a query, without empty values. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
