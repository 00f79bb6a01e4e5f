import { type Define, examples } from './command.ts';
import { onHangUp, onUncaught, untilSignal } from './lifetime.ts';

export const define: Define = (command, { tell, say, environment }) => {
  command
    .requiredOption('--config <file>', 'the configuration file')
    .addHelpText(
      'after',
      examples(
        'coursegate serve --config coursegate.yaml',
        'PORT=8090 ADMIN_PORT=9091 coursegate serve --config coursegate.yaml',
      ),
    )
    .action(async ({ config: file }: { config: string }) => {
      const [{ startGateway }, { followConfig }, { loadConfig }, { createLog }] = await Promise.all([
        import('../gateway.ts'),
        import('../watch/follow.ts'),
        import('../config/load.ts'),
        import('../operations/log.ts'),
      ]);
      const loaded = await loadConfig({ file, environment });
      const log = createLog(loaded.config.log.level, 2);
      for (const { path, message, file: where, line } of loaded.warnings)
        log.warn({ file: where, line }, `${path}: ${message}`);
      const gateway = await startGateway({ loaded, log, clock: Date.now, accessDescriptor: 1 });
      onUncaught(log, (seconds) => gateway.close(seconds));
      const following = followConfig({ file, environment, loaded, reload: gateway.reload, log });
      onHangUp(() => following.now());
      untilSignal(() => {
        following.close();
        return gateway.close();
      }, tell);
      say(`coursegate ready ${loaded.config.origin} profile=${loaded.profile}`);
    });
};
