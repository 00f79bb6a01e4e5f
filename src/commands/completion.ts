import { Argument } from 'commander';
import { type Define, withExamples } from './command.ts';
import { SCRIPTS, type Shell } from './completion/scripts.ts';

export const define: Define = (command, { print }) => {
  withExamples(
    command,
    'bash > /etc/bash_completion.d/coursegate',
    'zsh > /usr/local/share/zsh/site-functions/_coursegate',
    'fish > ~/.config/fish/completions/coursegate.fish',
  )
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: Shell) => print(SCRIPTS[shell]));
};
