import type { Translatable } from '../../../config/pages.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleSources } from '../sources.ts';

/** What a scope allows, in English if there is a choice. */
export function scopeTitle(scopes: ConsoleSources['scopes'], token: string): string {
  const title: Translatable | undefined = scopes[token]?.title;
  if (title === undefined || typeof title === 'string') return title ?? token;
  return title.en ?? Object.values(title).find((text) => text !== undefined) ?? token;
}

/** Whether one of these scopes lets an app change something. */
export function canChange(scopes: ConsoleSources['scopes'], tokens: readonly string[]): boolean {
  return tokens.some((token) => scopes[token]?.kind === 'write');
}

/** The same for a text of scopes. Many grants have the same text, so each is read once. */
export function changingText(scopes: ConsoleSources['scopes']): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const found = known.get(text) ?? canChange(scopes, text.split(' '));
    known.set(text, found);
    return found;
  };
}

export const CHANGES = html`<span class="badge warn">can change</span>`;
