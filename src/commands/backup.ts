import { type Define, examples } from './command.ts';

export const define: Define = (command, { say, environment }) => {
  command
    .requiredOption('--config <file>', 'the configuration file')
    .requiredOption('--to <file>', 'the file to create; an existing file is never overwritten')
    .addHelpText('after', examples('coursegate backup --config coursegate.yaml --to backup.db'))
    .action(async ({ config: file, to }: { config: string; to: string }) => {
      const { loadConfig } = await import('../config/load.ts');
      const { backupStore } = await import('../storage/backup.ts');
      const { config, secret } = await loadConfig({ file, environment });
      const { from, beside } = await backupStore(config.store, to);
      const kept =
        secret === undefined && beside !== undefined ? beside : `the one that \`secret\` refers to in ${file}`;
      say(`Copied ${from} to ${to}.`);
      say(`The copy can be read only with its secret, which it does not contain: ${kept}. Store the two separately.`);
    });
};
