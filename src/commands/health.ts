import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, withExamples } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';
import { gateOptions } from './operator.ts';

interface HealthFlags extends GateFlags {
  readonly live: boolean;
  readonly json: boolean;
}

export const define: Define = (command, terminal) => {
  const { say, print } = terminal;
  gateOptions(withExamples(command, '--config coursegate.yaml', '--admin http://127.0.0.1:9090 --json'))
    .option('--live', 'check only that the process is alive, not that it is ready for requests', false)
    .option('--json', 'print the checks as JSON', false)
    .action(async ({ live, json, ...flags }: HealthFlags) => {
      const path = live ? '/livez' : '/readyz';
      const gate = await adminClient(flags, terminal);
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
