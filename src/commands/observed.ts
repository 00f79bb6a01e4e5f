import { type Define, examples } from './command.ts';

export const define: Define = (command, { print, environment }) => {
  command
    .requiredOption('--config <file>', 'the configuration file of the gate that runs')
    .option('--json', 'print everything that was counted, as JSON', false)
    .addHelpText('after', examples('coursegate observed --config coursegate.yaml'))
    .action(async ({ config: file, json }: { config: string; json: boolean }) => {
      const { loadConfig } = await import('../config/load.ts');
      const { askObserved } = await import('../operations/observe/ask-observed.ts');
      const { config } = await loadConfig({ file, environment });
      print(await askObserved(config, json ? 'json' : 'yaml'));
    });
};
