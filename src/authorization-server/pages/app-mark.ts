import { createHash } from 'node:crypto';
import { type Html, html } from '../../http/html.ts';

/** White text on each has a contrast of at least 4.5:1 (WCAG 2.2 success criterion 1.4.3). */
const COLOURS = [
  ...['#b3261e', '#a83a00', '#8a5300', '#5f6300', '#39691b', '#00695c', '#00647a'],
  ...['#0b57d0', '#4a4fc4', '#6d3fc0', '#8f2fa8', '#a8276f'],
] as const;

/**
 * A square with the first letter of an app's name, in a colour chosen by the name. Stands in for a logo, which the app
 * could choose to look like someone else's. Decorative: assistive technology skips it, and the name is beside it.
 */
export function appMark(name: string | undefined): Html {
  const text = name ?? '';
  const colour = COLOURS[createHash('sha256').update(text).digest().readUInt16BE() % COLOURS.length];
  return html`<svg class="mark" width="40" height="40" viewBox="0 0 40 40" aria-hidden="true" focusable="false"><rect width="40" height="40" rx="10" fill="${colour}"/><text x="20" y="27" fill="#ffffff" font-size="20" font-weight="600" text-anchor="middle">${initialOf(text)}</text></svg>`;
}

/** The first letter or digit with its accents, in upper case; `?` for a name without any. */
function initialOf(name: string): string {
  const first = /[\p{L}\p{N}]\p{M}{0,2}/u.exec(name)?.[0] ?? '?';
  const upper = first.toUpperCase();
  // Some letters have no single capital: ß becomes SS.
  return [...upper].length === [...first].length ? upper : first;
}
