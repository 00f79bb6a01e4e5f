import type { ActionPage } from '../../../actions/action.ts';
import type { DirectoryDeps } from './deps.ts';
import type { Directory } from './directory.ts';
import { appRow, forgetGrants, memberRow, type Rows } from './rows.ts';

/** The most grants of a member or an app that are read again. A minute later, the lists have them all. */
const MOST = 5000;

type Read = Pick<DirectoryDeps, 'controls' | 'grants'>;

/** Reads from the store what an action has touched, for the rows in memory. If that fails, they are released. */
export async function reread(
  deps: Read & { readonly directory: Pick<Directory, 'correct' | 'close'>; readonly onError: DirectoryDeps['onError'] },
  touched: ActionPage['touches'],
  id: string,
): Promise<void> {
  const { directory, onError } = deps;
  if (touched === undefined) return;
  if (touched === 'everything') return directory.close();
  try {
    directory.correct(await READ[touched](deps, id));
  } catch (thrown) {
    directory.close();
    onError(thrown);
  }
}

const READ: Readonly<Record<'member' | 'app' | 'grant', (deps: Read, id: string) => Promise<(rows: Rows) => void>>> = {
  async member({ controls, grants }, id) {
    const [{ state }, listed] = await Promise.all([
      controls.account.describeMember(id),
      grants.list({ member: id }, MOST),
    ]);
    const left = new Set(listed.map((grant) => grant.id));
    return (rows) => {
      forgetGrants(rows, (grant) => grant.member.id === id && !left.has(grant.id));
      memberRow(rows, id).suspended = state === 'suspended';
    };
  },
  async app({ controls, grants }, id) {
    const [described, listed] = await Promise.all([
      controls.account.describeClient(id),
      grants.list({ client: id }, MOST),
    ]);
    const left = new Set(listed.map((grant) => grant.id));
    return (rows) => {
      forgetGrants(rows, (grant) => grant.app.id === id && !left.has(grant.id));
      if ('state' in described) appRow(rows, id).disabled = described.state === 'disabled';
      else if (left.size === 0) rows.apps.delete(id);
    };
  },
  async grant({ grants }, id) {
    const found = await grants.find(id);
    return (rows) => forgetGrants(rows, (grant) => grant.id === id && found === undefined);
  },
};
