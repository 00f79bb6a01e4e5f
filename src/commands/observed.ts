import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure } from './failure.ts';
import { gateOptions } from './gate-options.ts';

export const define: Define = (command, { print, environment }) => {
  gateOptions(command)
    .option('--json', 'print all counters as JSON', false)
    .addHelpText('after', examples('coursegate observed --config coursegate.yaml'))
    .action(async ({ json, ...flags }: GateFlags & { readonly json: boolean }) => {
      const gate = await adminClient(flags, environment);
      const { status, text } = await gate.ask(json ? '/observed.json' : '/observed');
      if (status !== 200) {
        throw new CommandFailure(`${gate.address} answered: ${text.trim().slice(0, 200)}`, {
          next: 'coursegate init --observe --upstream URL   (writes a configuration in observe mode)',
        });
      }
      print(text);
    });
};
