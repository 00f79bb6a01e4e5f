import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, withExamples } from './command.ts';
import { CommandFailure } from './failure.ts';
import { gateOptions } from './operator.ts';

export const define: Define = (command, terminal) => {
  gateOptions(withExamples(command, '--config coursegate.yaml'))
    .option('--json', 'print all counters as JSON', false)
    .action(async ({ json, ...flags }: GateFlags & { readonly json: boolean }) => {
      const gate = await adminClient(flags, terminal);
      const { status, text } = await gate.ask(json ? '/observed.json' : '/observed');
      if (status !== 200) {
        throw new CommandFailure(`${gate.address} answered: ${text.trim().slice(0, 200)}`, {
          next: 'coursegate init --observe --upstream URL   (writes a configuration in observe mode)',
        });
      }
      terminal.print(text);
    });
};
