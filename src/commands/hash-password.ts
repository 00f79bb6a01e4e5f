import type { Define } from './command.ts';

export const define: Define = (command, { say, tell, input }) => {
  command.action(async () => {
    const { hashPassword } = await import('../passwords/password-hash.ts');
    const { readPassword } = await import('../login/read-password.ts');
    if (input.isTTY) tell('Type the password and press Enter (it is not shown):');
    say(await hashPassword(await readPassword(input)));
  });
};
