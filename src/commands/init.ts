import { Option } from 'commander';
import { counted } from '../http/amounts.ts';
import type { InitOptions } from '../operator/setup/init/init.ts';
import { FRAMEWORKS, PLUGINS } from '../operator/setup/names.ts';
import type { Define } from './command.ts';
import { EXIT } from './exit-codes.ts';

interface InitFlags extends Omit<InitOptions, 'port' | 'adminPort' | 'tell' | 'agree' | 'signal'> {
  readonly port: string;
  readonly adminPort?: string;
  readonly yes: boolean;
}

export const define: Define = (command, { say, tell, end, input, confirm, interrupted }) => {
  command
    .requiredOption('--upstream <url>', 'the address of your site behind the web server, such as http://127.0.0.1:8000')
    .option('--origin <url>', 'the public address, such as https://school.example; by default, that of --upstream')
    .option('--port <number>', 'the port for the gate', '8080')
    .option('--admin-port <number>', 'the port for the admin listener; by default 9090, or a free one if that is taken')
    .option('--dir <folder>', 'the folder to write to', '.')
    .addOption(new Option('--framework <name>', 'what your site is made with; detected by default').choices(FRAMEWORKS))
    .option('--site', 'send the whole site through the gate, not only its own paths', false)
    .option('--observe', 'let every request through, and propose routes from the traffic', false)
    .addOption(
      new Option('--plugin <gateway>', 'a gateway that asks coursegate and forwards requests itself').choices(PLUGINS),
    )
    .option('--yes', 'do not ask for confirmation', false)
    .option('--force', 'overwrite existing files', false)
    .action(async ({ yes, port, adminPort, ...options }: InitFlags) => {
      const { init } = await import('../operator/setup/init/init.ts');
      const agree =
        yes || input.isTTY !== true
          ? async () => true
          : (files: readonly string[]) => confirm(`Write ${counted(files.length, 'file')} (${files[0]}, …)?`, true);
      const files = await init({
        ...options,
        port: Number(port),
        ...(adminPort === undefined ? {} : { adminPort: Number(adminPort) }),
        tell,
        agree,
        signal: interrupted(),
      });
      for (const file of files) say(file);
      if (files.length === 0) end(EXIT.failure);
    });
};
