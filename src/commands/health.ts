import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { gateOptions } from './gate-options.ts';

interface HealthFlags extends GateFlags {
  readonly live: boolean;
  readonly json: boolean;
}

export const define: Define = (command, { say, print, environment }) => {
  gateOptions(command)
    .option('--live', 'check only that the process is alive, not that it is ready for requests', false)
    .option('--json', 'print the checks as JSON', false)
    .addHelpText(
      'after',
      examples('coursegate health --config coursegate.yaml', 'coursegate health --admin http://127.0.0.1:9090 --json'),
    )
    .action(async ({ live, json, ...flags }: HealthFlags) => {
      const path = live ? '/livez' : '/readyz';
      const gate = await adminClient(flags, environment);
      const { status, text } = await gate.ask(`${path}?verbose`, json ? 'application/json' : 'text/plain');
      if (json) say(text.trim());
      else print(text);
      if (status !== 200) {
        throw new CommandFailure(`The gate at ${gate.address} is not ${live ? 'alive' : 'ready'}.`, {
          next: `coursegate health ${flags.config === undefined ? `--admin ${gate.address}` : `--config ${flags.config}`} --json`,
          code: EXIT.failure,
        });
      }
    });
};
