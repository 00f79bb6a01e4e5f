import { adminClient, firstLine, type GateFlags, isForeign } from './admin-client.ts';
import type { Define } from './command.ts';
import { CommandFailure } from './failure.ts';
import { gateOptions } from './operator.ts';

export const define: Define = (command, terminal) => {
  gateOptions(command).action(async ({ json, ...flags }: GateFlags & { readonly json: boolean }) => {
    const gate = await adminClient(flags, terminal);
    const answer = await gate.ask(json ? '/observed.json' : '/observed');
    const { status, type, text } = answer;
    if (status === 200 && type === (json ? 'application/json' : 'application/yaml')) return terminal.print(text);
    if (status === 200 || isForeign(answer)) throw gate.noGate(answer);
    throw new CommandFailure(`${gate.address} answered: ${firstLine(text)}`, {
      reason: 'For observe mode, set enforcement.mode to observe, or write a configuration with init --observe.',
    });
  });
};
