import type { Command } from 'commander';

/** The options by which a command line names the running gate that it is for. */
export function gateOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the configuration file of the gate that runs')
    .option('--admin <url>', 'the address of its admin listener, when it is another than the configuration says')
    .option('--cert <file>', 'the client certificate for admin.mtls, PEM')
    .option('--key <file>', 'its private key, PEM');
}
