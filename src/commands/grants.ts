import type { Define } from './command.ts';
import { answer, changing, confirmed, type OperatorFlags } from './operator.ts';

export const define: Define = (command, terminal) => {
  changing(
    command,
    'revoke',
    'end one grant; members show and clients show list them',
    '--config coursegate.yaml GRANT_ID --reason "phone stolen" --yes',
  )
    .argument('<grant>', 'the id of the grant')
    .action(async (id: string, flags: OperatorFlags) => {
      const change = await confirmed(terminal, flags, `End grant ${id}?`);
      const reply = await change<{ ended: number }>(`/grants/${encodeURIComponent(id)}/revoke`);
      answer(terminal, flags, reply, () => `${reply.ended} grants ended\n`);
    });
};
