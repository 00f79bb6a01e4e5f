import { shellWord } from '../operator/shell-word.ts';
import { type Define, readConfig, subcommand } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';
import { schoolWords } from './school-option.ts';

interface PrintFlags {
  readonly config: string;
  readonly school?: string;
  readonly origins: boolean;
  readonly json: boolean;
}

export const define: Define = (command, terminal) => {
  const { say, print } = terminal;
  subcommand(command, 'print').action(
    async (key: string | undefined, { config: file, school, origins, json }: PrintFlags) => {
      const { effectiveConfig, toYaml } = await import('../config/effective.ts');
      const { tree, origin } = effectiveConfig(await readConfig(file, terminal, school));
      if (key !== undefined && tree[key] === undefined) {
        throw new CommandFailure(`The configuration has no block "${key}". It has: ${Object.keys(tree).join(', ')}.`, {
          code: EXIT.usage,
          next: `coursegate config print --config ${shellWord(file)}${schoolWords(school)}`,
        });
      }
      const shown = key === undefined ? tree : { [key]: tree[key] };
      if (json) say(JSON.stringify(shown, undefined, 2));
      else print(toYaml({ tree: shown, origin }, { origins }));
    },
  );

  subcommand(command, 'schema').action(async () => {
    const { configJsonSchema } = await import('../config/json-schema.ts');
    say(JSON.stringify(configJsonSchema(), undefined, 2));
  });
};
