/** Puts ids into a path such as `/members/:id`. Ids may be URLs: each is percent-encoded. */
export function fillPath(path: string, params: Readonly<Record<string, string | undefined>>): string {
  return path.replace(/:(\w+)/g, (_part, name: string) => encodeURIComponent(params[name] ?? ''));
}
