import { GRANT_ACTIONS } from '../actions/grants.ts';
import { actionCommand } from './action-command.ts';
import type { Define } from './command.ts';
import { answer } from './operator.ts';

export const define: Define = (command, terminal) => {
  for (const row of Object.entries(GRANT_ACTIONS))
    actionCommand<{ ended: number }>(command, terminal, row, {
      print: (flags, reply) => answer(terminal, flags, reply, () => `${reply.ended} grants ended\n`),
    });
};
