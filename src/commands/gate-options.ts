import type { Command } from 'commander';

/** Adds the options that select the running gate a command talks to. */
export function gateOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the configuration file of the running gate')
    .option('--admin <url>', 'the address of its admin listener, if it differs from the configuration')
    .option('--cert <file>', 'the client certificate for admin.mtls, PEM')
    .option('--key <file>', 'its private key, PEM');
}
