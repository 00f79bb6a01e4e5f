import { text } from 'node:stream/consumers';
import { KEY_ACTIONS } from '../actions/keys.ts';
import { actionCommand } from './action-command.ts';
import { readTextFile } from './admin-client.ts';
import type { Define } from './command.ts';
import { misused } from './failure.ts';
import { answer, asking, get, type OperatorFlags } from './operator.ts';
import { type KeyList, table, when } from './views.ts';

export const define: Define = (command, terminal) => {
  const show = (flags: OperatorFlags, { keys }: KeyList) =>
    answer(terminal, flags, keys, () =>
      table(
        terminal,
        ['KEY', 'ALG', 'STATE', 'SINCE', 'UNTIL'],
        keys.map(({ kid, alg, state, since, until }) => [kid, alg, state, when(since), when(until)]),
      ),
    );

  asking(command, 'list').action(async (flags: OperatorFlags) => show(flags, await get(terminal, flags, '/keys')));

  for (const row of Object.entries(KEY_ACTIONS))
    actionCommand<KeyList>(command, terminal, row, {
      ...(row[0] === 'import' && {
        values: async (file) => ({ key: keyIn(file === '-' ? await text(terminal.input) : await readTextFile(file)) }),
      }),
      print: show,
    });
};

/** Returns PEM as text and JSON parsed. The gate checks whether the key is usable. */
function keyIn(given: string): unknown {
  if (!given.trimStart().startsWith('{')) return given;
  try {
    return JSON.parse(given);
  } catch (cause) {
    throw misused('The key is neither PEM nor JSON.', { cause });
  }
}
