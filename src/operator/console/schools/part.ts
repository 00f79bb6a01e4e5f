import type { RequestHandler } from 'express';
import { type Callers, callersOf } from '../../../authorization-server/administration/caller.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { once } from '../../../http/once.ts';
import type { HealthChecks } from '../../../operations/health.ts';
import type { Log } from '../../../operations/log.ts';
import { unixSeconds } from '../../../storage/store.ts';
import { consoleState } from '../console-state.ts';
import { signLink } from '../link.ts';
import type { SchoolRow } from './schools-page.ts';

export type { SchoolRow } from './schools-page.ts';

interface SchoolsConsoleUses extends Omit<Callers, 'secrets' | 'mtls'> {
  /** The secret of the store. */
  readonly secret: string;
  readonly health: () => Pick<HealthChecks, 'ready'>;
  readonly schools: () => readonly SchoolRow[];
  readonly log: Log;
}

/**
 * The console of a process with many schools: it lists them, and leads the operators of the process to that of each.
 * Returns it for the configuration of the process, which may change.
 */
export function schoolsConsole({ secret, health, schools, log, ...uses }: SchoolsConsoleUses) {
  const kept = consoleState();
  return (loaded: LoadedConfig): RequestHandler => {
    const callers = callersOf(loaded, uses);
    const create = async () => {
      const [{ consoleOf }, { SCHOOLS_PAGES }] = await Promise.all([
        import('../console.ts'),
        import('./schools-page.ts'),
      ]);
      return consoleOf(
        { callers, secret, colour: loaded.config.pages.colour, kept, hold: () => {} },
        {
          of: 'all schools',
          pages: SCHOOLS_PAGES,
          sources: {
            school: 'coursegate',
            schools,
            health: () => health().ready(),
            entranceOf: (name) => entranceOf(name, callers),
            onError: (error) => log.error({ err: error }, 'a page of the console failed'),
          },
        },
      );
    };
    const created = once(create, { forgetFailure: true });
    return async (request, response, next) => (await created())(request, response, next);
  };
}

/** Where an operator of the process signs in to the console of a school. A client certificate is enough there, too. */
function entranceOf(name: string, { secrets: [secret], clock }: Callers): string {
  const mount = `/schools/${name}`;
  if (secret === undefined) return `${mount}/console`;
  return `${mount}/console/sign-in?link=${signLink(secret, unixSeconds(clock), mount)}`;
}
