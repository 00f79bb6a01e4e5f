import type { LoadedConfig } from '../config/load.ts';
import type { Log } from '../operations/log.ts';
import { type Define, readProcess } from './command.ts';
import { onSignal, onUncaught, untilSignal } from './lifetime.ts';
import type { Terminal } from './terminal.ts';

const DESCRIPTORS = { log: 2, access: 1 } as const;

export const define: Define = (command, terminal) => {
  command.action(async ({ config: file }: { readonly config: string }) => {
    const { createLog } = await import('../operations/log.ts');
    const loaded = await readProcess(file, terminal);
    const log = createLog(loaded.config.log.level, DESCRIPTORS.log);
    for (const { path, message, file: where, line } of loaded.warnings)
      log.warn({ file: where, line }, `${path}: ${message}`);
    await serve(file, loaded, log, terminal);
    const { schools, config, profile } = loaded;
    const served = schools === undefined ? `${config.origin} profile=${profile}` : `schools=${schools.files.size}`;
    terminal.say(`coursegate ready ${served}`);
  });
};

async function serve(file: string, loaded: LoadedConfig, log: Log, { tell, environment }: Terminal): Promise<void> {
  const [{ startGateway }, { followConfig }] = await Promise.all([
    import('../process/gateway.ts'),
    import('../process/watch/follow.ts'),
  ]);
  const gateway = await startGateway({ loaded, log, clock: Date.now, accessDescriptor: DESCRIPTORS.access });
  onUncaught(log, (seconds) => gateway.close(seconds));
  const following = followConfig({ file, environment, loaded, reload: gateway.reload, further: gateway.sources, log });
  onSignal('SIGHUP', () => void following.now());
  untilSignal(() => {
    following.close();
    return gateway.close();
  }, tell);
}
