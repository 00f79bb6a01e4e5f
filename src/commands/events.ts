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
    .description('send one test.ping to the backend now; exits 1 when it is not taken')
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
    .description('print the events that wait, and why')
    .option('--json', 'print it as JSON', false)
    .addHelpText('after', examples('coursegate events list --config coursegate.yaml'))
    .action(async ({ json, ...flags }: ListFlags) => {
      const { status, text } = await (await adminClient(flags, environment)).ask('/events');
      if (status === 404) throw noEvents(flags.config);
      if (status !== 200) throw new CommandFailure(`The gate cannot say: ${text.trim()}`, { code: EXIT.unavailable });
      if (json) return say(text.trim());
      const { pending, paused_until, stopped_at, last_failure, events } = JSON.parse(text) as Listed;
      const { grant = 0, client = 0, refusal = 0 } = pending;
      tell(`${grant + client + refusal} wait: ${grant} of grants, ${client} of clients, ${refusal} of refusals.`);
      if (last_failure !== undefined) tell(`Last not taken at ${last_failure.at}: ${last_failure.reason}.`);
      if (paused_until !== undefined) tell(`The next is sent at ${paused_until}.`);
      if (stopped_at !== undefined) tell(`The backend has wanted no more since ${stopped_at}.`);
      for (const { id, type, timestamp, attempts, due_at } of events)
        say(
          [timestamp, type, id, `${attempts} attempts`, ...(due_at === undefined ? [] : [`next ${due_at}`])].join('  '),
        );
    });

  gateOptions(command.command('retry'))
    .description('send what waits now, also to a backend that answered 410')
    .addHelpText('after', examples('coursegate events retry --config coursegate.yaml'))
    .action(async (flags: GateFlags) => {
      const { pending } = (await (await adminClient(flags, environment)).command('POST', '/events/retry')) as {
        pending: number;
      };
      say(`${pending} events are sent again now.`);
    });
};

function noEvents(file = 'FILE'): CommandFailure {
  return new CommandFailure('There is no `events` in this configuration: the backend is told of nothing.', {
    next: `coursegate check ${file}`,
    code: EXIT.failure,
  });
}
