import { counted } from '../http/amounts.ts';
import type { InitOptions } from '../operator/setup/init/init.ts';
import { FRAMEWORKS, PLUGINS } from '../operator/setup/names.ts';
import { type Define, limitOption } from './command.ts';
import { EXIT } from './exit-codes.ts';

interface InitFlags extends Omit<InitOptions, 'port' | 'adminPort' | 'tell' | 'agree' | 'signal'> {
  readonly port: string;
  readonly adminPort?: string;
  readonly yes: boolean;
}

export const define: Define = (command, { say, tell, end, input, confirm, interrupted }) => {
  limitOption(command, '--framework', FRAMEWORKS);
  limitOption(command, '--plugin', PLUGINS);
  command.action(async ({ yes, port, adminPort, ...options }: InitFlags) => {
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
