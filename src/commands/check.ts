import { type Define, examples } from './command.ts';

export const define: Define = (command, { say, environment }) => {
  command
    .argument('<file>', 'the configuration file')
    .addHelpText('after', examples('coursegate check coursegate.yaml'))
    .action(async (file: string) => {
      const { loadConfig } = await import('../config/load.ts');
      const { checkInterfaces } = await import('../interfaces.ts');
      const loaded = await loadConfig({ file, environment });
      checkInterfaces(loaded);
      const { checkDriver } = await import('../login/database/check-driver.ts');
      await checkDriver(loaded);
      say(
        `${file}: good. ${loaded.config.routes.length} routes, profile ${loaded.profile}, origin ${loaded.config.origin}`,
      );
    });
};
