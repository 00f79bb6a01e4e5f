import { adminClient, type GateFlags } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { gateOptions } from './gate-options.ts';

interface ListFlags extends GateFlags {
  readonly json: boolean;
}

interface Listed {
  readonly pending: Readonly<Record<string, number>>;
  readonly paused_until?: string;
  readonly stopped_at?: string;
  readonly last_failure?: { readonly at: string; readonly reason: string };
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly timestamp: string;
    readonly attempts: number;
    readonly due_at?: string;
  }[];
}

export const define: Define = (command, { say, tell, environment }) => {
  command
    .command('test')
    .description('send one test.ping to the backend; exits 1 if it is not accepted')
    .requiredOption('--config <file>', 'the configuration file')
    .addHelpText('after', examples('coursegate events test --config coursegate.yaml'))
    .action(async ({ config: file }: { config: string }) => {
      const { loadConfig } = await import('../config/load.ts');
      const { pingBackend } = await import('../events/ping.ts');
      const loaded = await loadConfig({ file, environment });
      const pinged = await pingBackend(loaded);
      if (pinged === undefined) throw noEvents(file);
      const { upstream, path } = loaded.config.events ?? {};
      if (!pinged.taken) {
        throw new CommandFailure(`test.ping at ${path} of ${upstream}: ${pinged.said}.`, {
          reason: pinged.answered ? 'Does the backend verify with the same secret?' : 'Is the backend running?',
          next: `coursegate check ${file}`,
          code: pinged.answered ? EXIT.failure : EXIT.unavailable,
        });
      }
      say(`test.ping at ${path} of ${upstream}: ${pinged.said}.`);
    });

  gateOptions(command.command('list'))
    .description('list pending events, and why they are pending')
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples('coursegate events list --config coursegate.yaml'))
    .action(async ({ json, ...flags }: ListFlags) => {
      const { status, text } = await (await adminClient(flags, environment)).ask('/events');
      if (status === 404) throw noEvents(flags.config);
      if (status !== 200)
        throw new CommandFailure(`The gate cannot list its events: ${text.trim()}`, { code: EXIT.unavailable });
      if (json) return say(text.trim());
      const { pending, paused_until, stopped_at, last_failure, events } = JSON.parse(text) as Listed;
      const { grant = 0, client = 0, refusal = 0 } = pending;
      tell(`${grant + client + refusal} pending: ${grant} for grants, ${client} for clients, ${refusal} for refusals.`);
      if (last_failure !== undefined) tell(`Last failed delivery at ${last_failure.at}: ${last_failure.reason}.`);
      if (paused_until !== undefined) tell(`Next attempt at ${paused_until}.`);
      if (stopped_at !== undefined) tell(`Stopped at ${stopped_at}, when the backend answered 410.`);
      for (const { id, type, timestamp, attempts, due_at } of events)
        say(
          [timestamp, type, id, `${attempts} attempts`, ...(due_at === undefined ? [] : [`next ${due_at}`])].join('  '),
        );
    });

  gateOptions(command.command('retry'))
    .description('send pending events now, even to a backend that answered 410')
    .addHelpText('after', examples('coursegate events retry --config coursegate.yaml'))
    .action(async (flags: GateFlags) => {
      const { pending } = (await (await adminClient(flags, environment)).command('POST', '/events/retry')) as {
        pending: number;
      };
      say(`Retrying ${pending} events.`);
    });
};

function noEvents(file = 'FILE'): CommandFailure {
  return new CommandFailure('This configuration has no `events`, so nothing is sent to the backend.', {
    next: `coursegate check ${file}`,
    code: EXIT.failure,
  });
}
