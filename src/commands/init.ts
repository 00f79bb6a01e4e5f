import { type Define, examples } from './command.ts';
import { EXIT } from './failure.ts';

interface InitFlags {
  readonly upstream: string;
  readonly origin?: string;
  readonly port: string;
  readonly dir: string;
  readonly framework?: string;
  readonly site: boolean;
  readonly observe: boolean;
  readonly yes: boolean;
  readonly force: boolean;
}

export const define: Define = (command, { say, tell, end, input, confirm, interrupted }) => {
  command
    .requiredOption('--upstream <url>', 'where the site listens, such as http://127.0.0.1:8000')
    .option('--origin <url>', 'where members reach it, such as https://school.example; left out, the same')
    .option('--port <number>', 'where the gate is to listen', '8080')
    .option('--dir <folder>', 'where the files go', '.')
    .option(
      '--framework <name>',
      'wordpress, moodle, django, rails, laravel, express, spring or generic; left out, a look',
    )
    .option('--site', 'have everything go through the gate, not only its paths', false)
    .option('--observe', 'let everything through and propose routes from what is used', false)
    .option('--yes', 'ask nothing', false)
    .option('--force', 'write over what is there', false)
    .addHelpText(
      'after',
      examples(
        'coursegate init --upstream http://127.0.0.1:8000 --origin https://school.example',
        'coursegate init --upstream http://127.0.0.1:8000 --dir gate --observe --yes',
      ),
    )
    .action(async ({ yes, ...options }: InitFlags) => {
      const { init } = await import('../setup/init/init.ts');
      const agree =
        yes || input.isTTY !== true
          ? async () => true
          : (files: readonly string[]) => confirm(`Write ${files.length} files (${files[0]}, …)?`, true);
      const files = await init({ ...options, port: Number(options.port), tell, agree, signal: interrupted() });
      for (const file of files) say(file);
      if (files.length === 0) end(EXIT.failure);
    });
};
