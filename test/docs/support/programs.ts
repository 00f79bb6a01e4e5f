import type { Block, Page } from './markdown.ts';

/** A page with programs that its reader saves as files, and runs with the commands of the page. */
export interface ProgramPage {
  readonly file: string;
  /** What installs the libraries: the block with the comment `install`. */
  readonly install: string;
  /** Blocks with the comment `file: app.ts`, each with the commands that run it: the block with the comment `run` below. */
  readonly programs: readonly { readonly name: string; readonly text: string; readonly commands: string }[];
}

/** Whether a page is one of programs: docs/clients has one for each language. */
export function isOfPrograms(file: string): boolean {
  return /^docs\/clients\/(?!matrix)/.test(file);
}

/** Reads a page of programs. Throws if a program has no commands, or the page no install block. */
export function readPrograms({ file, blocks }: Pick<Page, 'file' | 'blocks'>): ProgramPage {
  const install = blocks.find(({ markers }) => markers.includes('install'));
  if (install === undefined) throw new Error(`${file}: no block has the comment install`);
  const programs = blocks.flatMap((block, at) => {
    const name = nameOf(block);
    if (name === undefined) return [];
    const next = blocks[at + 1];
    if (next === undefined || !next.markers.includes('run')) throw new Error(`${file}: no commands run ${name}`);
    return [{ name, text: block.text, commands: next.text }];
  });
  return { file, install: install.text, programs };
}

function nameOf({ markers }: Block): string | undefined {
  return markers.map((marker) => /^file: (\S+)$/.exec(marker)?.[1]).find((name) => name !== undefined);
}
