import { type Define, withExamples } from './command.ts';
import { CommandFailure, EXIT, misused } from './failure.ts';

interface DoctorFlags {
  readonly register: boolean;
  readonly only?: string;
  readonly skip?: string;
  readonly timeout: string;
  readonly json: boolean;
}

export const define: Define = (command, terminal) => {
  withExamples(command, 'https://school.example/mcp', 'http://localhost:8080 --json')
    .argument('<url>', 'the URL that you give to clients, such as https://school.example/mcp')
    .option(
      '--register',
      'also run the checks that register an app; registrations are deleted afterwards where possible',
      false,
    )
    .option('--only <ids>', 'only these checks or themes, separated by commas')
    .option('--skip <ids>', 'all except these')
    .option('--timeout <seconds>', 'limit for the whole run', '120')
    .option('--json', 'print the findings as JSON', false)
    .action(async (url: string, options: DoctorFlags) => {
      const { doctor, DoctorError, exitCode } = await import('../tools/doctor/doctor.ts');
      const { toJson } = await import('../tools/doctor/report-json.ts');
      const { toText } = await import('../tools/doctor/report-text.ts');
      const timeout = Number(options.timeout);
      if (!(timeout > 0 && timeout <= 3600)) throw misused('--timeout must be a number of seconds from 1 to 3600.');
      const ids = (list: string | undefined) => list?.split(',').map((id) => id.trim()) ?? [];
      const { register } = options;
      const chosen = { only: ids(options.only), skip: ids(options.skip) };
      const begin = (address: string) => {
        if (!options.json) terminal.tell(`Checking ${address}${register ? '' : ' without registering an app'} …`);
      };
      const signal = terminal.interrupted();
      const report = await doctor({ url, register, ...chosen, timeout, signal, begin }).catch((thrown: unknown) => {
        throw thrown instanceof DoctorError ? new CommandFailure(thrown.message, { code: EXIT.usage }) : thrown;
      });
      terminal.print(
        options.json
          ? `${JSON.stringify(toJson(report), undefined, 2)}\n`
          : toText(report, { width: terminal.width, colour: terminal.colour() }),
      );
      terminal.end(exitCode(report));
    });
};
