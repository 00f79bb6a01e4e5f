import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './markdown.ts';
import { ROOT } from './pages.ts';

/** All texts of the program: our sources and page texts, and those of libraries whose messages reach a client. */
const SAYS = ['src', 'node_modules/oidc-provider/lib', 'node_modules/graphql'];

/** Every string of a source file, concatenated, with `…` for interpolated parts. */
let sources: readonly string[] | undefined;

function allSources(): readonly string[] {
  sources ??= SAYS.flatMap((folder) => filesIn(join(ROOT, folder)).map((file) => told(readFileSync(file, 'utf8'))));
  return sources;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesIn(path);
    return /\.(?:ts|js|json|sql)$/.test(entry.name) && !/\.d\.ts$/.test(entry.name) ? [path] : [];
  });
}

/** Joins strings that are written in several parts, and removes the quotes. */
function told(source: string): string {
  return source
    .replace(/['"`]\s*\+\s*['"`]/g, '')
    .replace(/\\(['"`])/g, '$1')
    .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}|\{[a-z]\w*\}/g, '…')
    .replaceAll('`', '');
}

/** Whether the program contains this text; `…` stands for interpolated parts, or for more text at its ends. */
export function isSaid(text: string): boolean {
  const wanted = text.replace(/^\s*…|…\s*$/g, '').trim();
  return wanted.length >= 8 && allSources().some((source) => source.includes(wanted));
}

/** The lines of a page that quote the program: `> text`. */
export function quotedIn({ prose }: Page): readonly { readonly line: number; readonly text: string }[] {
  return prose.flatMap(({ number, text }) => {
    const [, quoted] = /^>\s+(.*\S)\s*$/.exec(text) ?? [];
    return quoted === undefined ? [] : [{ line: number, text: quoted.replaceAll('`', '') }];
  });
}
