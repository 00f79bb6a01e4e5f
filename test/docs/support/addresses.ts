import { type Page, placeOf } from './markdown.ts';

/** The gate's own corner: what begins so is served by it, or by nobody. */
const OURS =
  /^\/(?:(?:oauth|api\/oauth|\.well-known|account|keys)\/[\w.-]|(?:mcp|auth\.md|openapi\.json|livez|readyz|metrics|observed|graphiql)(?:\/|$))/;

/** There for some ways to sign in, or while one is under way. */
const SOMETIMES = /^\/oauth\/(?:sign-in|interaction)(?:\/|$)/;

/** Every whole address of ours that the text of the pages names, and where. Those with a blank in them are left out. */
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
