import { Argument } from 'commander';
import { type Define, withExamples } from './command.ts';
import { SHELLS, type Shell } from './completion/shells.ts';

export const define: Define = (command, { print }) => {
  withExamples(
    command,
    'bash > /etc/bash_completion.d/coursegate',
    'zsh > /usr/local/share/zsh/site-functions/_coursegate',
    'fish > ~/.config/fish/completions/coursegate.fish',
  )
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SHELLS)))
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./completion/completion-script.ts');
      print(completionScript(shell, command.parent ?? command));
    });
};
