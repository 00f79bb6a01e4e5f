import { programName } from '../operator/program-name.ts';
import { type Define, readConfig } from './command.ts';

interface ExportFlags {
  readonly config: string;
  readonly school?: string;
  readonly dir: string;
}

export const define: Define = (command, terminal) => {
  command.action(async ({ config: file, school, dir }: ExportFlags) => {
    const { exportDocuments } = await import('../operator/setup/export/export.ts');
    const loaded = await readConfig(file, terminal, school);
    for (const written of await exportDocuments(loaded, dir)) terminal.say(written);
    const { origin } = loaded.config;
    terminal.tell('/.well-known/jwks.json is not among them, because keys rotate: apps that verify ID tokens need it.');
    terminal.tell(
      `Export again after each change of the configuration. To find old copies: ${programName()} doctor ${origin}`,
    );
  });
};
