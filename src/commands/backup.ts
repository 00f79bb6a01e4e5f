import { type Define, readProcess } from './command.ts';

export const define: Define = (command, terminal) => {
  command.action(async ({ config: file, to }: { config: string; to: string }) => {
    const { backupStore } = await import('../storage/sqlite/backup.ts');
    const { config, secret } = await readProcess(file, terminal);
    const { waitFor } = await import('./progress.ts');
    const shown = waitFor(terminal, `Copying the store to ${to}`);
    const { from, beside } = await backupStore(config.store, to).finally(shown);
    const kept = secret === undefined && beside !== undefined ? beside : `the one that \`secret\` refers to in ${file}`;
    terminal.say(terminal.paint(32, `Copied ${from} to ${to}.`));
    terminal.say(
      `The copy can be read only with its secret, which it does not contain: ${kept}. Store the two separately.`,
    );
  });
};
