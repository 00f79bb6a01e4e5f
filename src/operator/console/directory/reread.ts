import type { GrantsOf } from '../../../authorization-server/grants.ts';
import type { Sources } from '../sources.ts';
import { appRow, forgetGrants, memberRow } from './rows.ts';

/** The most grants of a member or an app that are read again. A minute later, the lists have them all. */
const MOST = 5000;

/** Reads from the store what an action has changed, for the rows in memory. If that fails, the rows are released. */
export async function reread(
  { controls: { account }, grants, directory, onError }: Sources<'controls' | 'grants' | 'directory' | 'onError'>,
  changed: GrantsOf | 'everything' | undefined,
): Promise<void> {
  if (changed === undefined) return;
  if (changed === 'everything') return directory.close();
  try {
    const left = new Set((await grants.list(changed, MOST)).map(({ id }) => id));
    const described = await ('member' in changed
      ? account.describeMember(changed.member)
      : account.describeClient(changed.client));
    const { id } = described;
    const state = 'state' in described ? described.state : undefined;
    directory.correct((rows) => {
      const row = 'member' in changed ? memberRow(rows, id) : appRow(rows, id);
      forgetGrants(rows, ({ id: grant, member, app }) => (member === row || app === row) && !left.has(grant));
      row.state = state === 'suspended' || state === 'disabled' ? state : undefined;
      if (state === undefined && left.size === 0) rows.apps.delete(id);
    });
  } catch (thrown) {
    directory.close();
    onError(thrown);
  }
}
