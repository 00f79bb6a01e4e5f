import { failure, pass } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';

/** Whether a gate runs with this configuration, and takes commands. */
export const GATE = [
  ...backendChecks(() => true, {
    'gate.running': {
      title: 'The gate is running and ready',
      reference: 'docs/observability.md',
      fix: 'Start it with `coursegate serve --config FILE`. If it is running, give its admin address with --admin.',
      async run({ admin }) {
        const answer = await admin.ask('/readyz').catch(() => undefined);
        if (answer === undefined) return failure(`no gate answers at ${admin.address}`);
        if (answer.status === 200) return pass(`${admin.address} is ready`);
        const said = answer.text.trim().slice(0, 200);
        return failure(
          `${admin.address}/readyz answers ${answer.status}: ${said}`,
          answer.status === 503
            ? 'Run `coursegate health --config FILE`: it names the check that fails.'
            : 'Another program listens at this address. Set listen.admin.port, or give the address with --admin.',
        );
      },
    },
  }),
  ...backendChecks(({ admin }) => admin.hmac !== undefined || admin.mtls !== undefined, {
    'gate.commands': {
      title: 'The gate accepts the admin secret',
      reference: 'docs/backend-events.md',
      fix: 'Give the gate and your backend the same admin.hmac.secret, and restart the gate after a change of its environment.',
      async run({ admin }) {
        await admin.ask('/livez').catch(() => {
          throw new Unavailable('no gate answers at the admin address');
        });
        return admin.command('GET', '/keys').then(
          () => pass('a signed command was answered'),
          (thrown: unknown) => failure(thrown instanceof Error ? thrown.message : String(thrown)),
        );
      },
    },
  }),
];
