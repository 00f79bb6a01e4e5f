import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from '../console-route.ts';
import { appPage } from './app-page.ts';
import type { DirectoryDeps } from './deps.ts';
import { grantPage } from './grant-page.ts';
import { appsPage, grantsPage, membersPage } from './lists.ts';
import { memberPage } from './member-page.ts';
import { registrationPage } from './registration-page.ts';
import { searchPage } from './search-page.ts';

type DirectoryPage = (deps: DirectoryDeps, request: ConsoleRequest) => Promise<ConsoleAnswer>;

/** The pages about apps, members and grants. */
export function directoryRoutes(deps: DirectoryDeps): readonly ConsoleRoute[] {
  const page = (path: string, show: DirectoryPage): ConsoleRoute => ({
    method: 'GET',
    path,
    run: (request) => show(deps, request),
  });
  return [
    page('/search', searchPage),
    page('/apps', appsPage),
    page('/members', membersPage),
    page('/grants', grantsPage),
    page('/registration', registrationPage),
    page('/apps/:id', appPage),
    page('/members/:id', memberPage),
    page('/grants/:id', grantPage),
  ];
}
