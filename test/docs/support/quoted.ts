import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './markdown.ts';
import { ROOT } from './pages.ts';

/** What the program can say: our own sources and page texts, and those of the libraries whose words reach a client. */
const SAYS = ['src', 'node_modules/oidc-provider/lib', 'node_modules/graphql'];

/** Every text of a source file with its parts put together, and what is filled in as `…`. */
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

/** Puts texts that are written in several pieces together, and takes off the marks of the language around them. */
function told(source: string): string {
  return source
    .replace(/['"`]\s*\+\s*['"`]/g, '')
    .replace(/\\(['"`])/g, '$1')
    .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}|\{[a-z]\w*\}/g, '…')
    .replaceAll('`', '');
}

/** Whether the program says this somewhere; `…` in it stands for what is filled in there, and for more at its ends. */
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
