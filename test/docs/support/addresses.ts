import { type Page, placeOf } from './markdown.ts';

/** Prefixes of the gate's own paths: the gate serves them, or they do not exist. */
const OURS =
  /^\/(?:(?:oauth|api\/oauth|\.well-known|account|keys)\/[\w.-]|(?:mcp|auth\.md|openapi\.json|livez|readyz|metrics|observed)(?:\/|$))/;

/** Paths that exist only for some ways to sign in, or during a sign-in. */
const SOMETIMES = /^\/oauth\/(?:sign-in|interaction)(?:\/|$)/;

/** Every complete path of the gate in the text of the pages, with its position. Those with a placeholder are omitted. */
export function addressesIn(pages: readonly Page[]): readonly { readonly path: string; readonly places: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { file, prose } of pages) {
    for (const { number, text } of prose) {
      for (const [, path = ''] of text.matchAll(/`(?:[A-Z]+ )?(\/[\w./-]*)`/g)) {
        if (!OURS.test(path) || SOMETIMES.test(path)) continue;
        found.set(path, [...(found.get(path) ?? []), placeOf({ file, line: number })]);
      }
    }
  }
  return [...found].map(([path, places]) => ({ path, places }));
}
