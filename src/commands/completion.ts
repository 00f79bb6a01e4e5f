import { Argument } from 'commander';
import { codePath, readInstalled } from '../installation.ts';
import type { Define } from './command.ts';

/**
 * The script of each shell, in this folder's `completion`. All of them ask the program (`ASK`), which prints a word a
 * line, with its meaning after a tab, or `:file` or `:folder` for names on disk. They work in bash 4.1 and later, without
 * the package bash-completion, in zsh, and in fish 3.1 and later.
 */
export const SCRIPTS = { bash: 'coursegate.bash', zsh: '_coursegate', fish: 'coursegate.fish' } as const;

/** The text of a script. */
export function completionScript(shell: keyof typeof SCRIPTS): string {
  return readInstalled(codePath(`commands/completion/${SCRIPTS[shell]}`)).toString('utf8');
}

export const define: Define = (command, { print }) => {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => print(completionScript(shell)));
};
