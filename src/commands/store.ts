import { setTimeout as pause } from 'node:timers/promises';
import { type Define, readProcess, subcommand } from './command.ts';
import { CommandFailure } from './failure.ts';
import { answer } from './operator.ts';
import { progressOf } from './progress.ts';
import { table } from './views.ts';

interface Flags {
  readonly from: string;
  readonly to: string;
  readonly json: boolean;
}

export const define: Define = (command, terminal) => {
  subcommand(command, 'copy')
    .requiredOption('--from <file>', 'the configuration file of the gate, which must be stopped')
    .requiredOption('--to <file>', 'a configuration file with the same `secret` and an empty `store`')
    .option('--json', 'print JSON', false)
    .action(async (flags: Flags) => {
      const { copyStore } = await import('../storage/copy/copy.ts');
      const [from, to] = [await readProcess(flags.from, terminal), await readProcess(flags.to, terminal)];
      const report = await copyStore(from, to, (what) => progressOf(terminal, what), {
        now: Date.now,
        rest: (milliseconds) => pause(milliseconds),
      });
      const rows = report.kinds.map(({ kind, from, to }) => [
        kind,
        `${from.count}`,
        from.digest,
        `${to.count}`,
        to.digest,
      ]);
      answer(terminal, flags, report, () => table(terminal, ['KIND', 'FROM', 'DIGEST', 'TO', 'DIGEST'], rows));
      if (!report.whole) {
        throw new CommandFailure('The copy differs from its source, and no gate will start on it.', {
          reason: 'Something wrote to one of them meanwhile. Stop every gate that uses them, and run this again.',
        });
      }
      terminal.tell(`The copy is whole. Start the gate with ${flags.to}, and no longer with ${flags.from}.`);
    });
};
