import { MEMBER_ID } from '../../../../config/recheck.ts';
import type { Config } from '../../../../config/schema.ts';
import type { Standing } from '../../../../login/connector.ts';
import { createRecheck } from '../../../../login/recheck.ts';
import { shownUrl } from '../../../../login/whoami/question.ts';
import { failure, pass, type Verdict, warning } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { Installation } from '../installation.ts';
import { causeOf } from '../open-installation.ts';

/** IDs that no member has. A backend may refuse to look up one that does not have its own form. */
const NOBODY = ['coursegate-doctor', '2147483646', '00000000-0000-4000-8000-000000000000'] as const;

const recheckOf = ({ login }: Config) => ('recheck' in login ? login.recheck : undefined);

/** Whether the backend says who still exists. */
export const RECHECK = [
  ...backendChecks((config) => recheckOf(config) !== undefined, {
    async 'recheck.unknown'(installation) {
      let seen = '';
      for (const id of NOBODY) {
        const standing = await ask(installation, id, true);
        if (typeof standing === 'object' && standing.kind !== 'good') return pass(standing.kind);
        if (typeof standing === 'object')
          return failure(
            `it says that a member with the invented ID "${id}" is active: no member would ever be disconnected`,
          );
        seen ||= standing;
      }
      return failure(seen);
    },
    async 'recheck.member'(installation) {
      const { member } = installation;
      if (member === undefined) throw new Unavailable('name a member with --member');
      const standing = await ask(installation, member, true);
      if (typeof standing === 'string') return failure(standing);
      return standing.kind === 'good' ? pass('active') : failure(`it says that this member is ${standing.kind}`);
    },
  }),
  ...backendChecks((config) => recheckOf(config)?.key !== undefined, {
    async 'recheck.key'(installation): Promise<Verdict> {
      const [id] = NOBODY;
      const standing = await ask(installation, id, false);
      if (typeof standing === 'string') {
        const usual = await ask(installation, id, true);
        if (typeof usual === 'string') throw new Unavailable(`it is refused with the key too: ${usual}`);
        return pass('refused');
      }
      const path = recheckOf(installation.config)?.path ?? '';
      if (standing.kind === 'gone')
        return failure(`${path} answers a request without the key as if the member were gone`);
      return warning(`${path} answers without the key, so anyone who reaches the backend learns which members exist`);
    },
  }),
];

/** The backend's answer about a member; a text if there was none that can be used. */
async function ask({ config, loaded, call }: Installation, id: string, withKey: boolean): Promise<Standing | string> {
  const recheck = recheckOf(config);
  if (recheck === undefined) throw new Unavailable('login.recheck is not configured');
  return createRecheck(
    recheck,
    withKey ? loaded.recheckKey : undefined,
    call,
  )(id).catch((thrown: unknown) => {
    const url = shownUrl(config.upstreams[recheck.upstream]?.url ?? '', recheck.path.replaceAll(MEMBER_ID, id));
    return `GET ${url}: ${causeOf(thrown)}`;
  });
}
