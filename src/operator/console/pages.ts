import { ACTION_PAGES } from './actions/action-pages.ts';
import type { ConsolePage } from './console-page.ts';
import { appPage } from './directory/app-page.ts';
import { appsPage } from './directory/apps-page.ts';
import { grantPage } from './directory/grant-page.ts';
import { grantsPage } from './directory/grants-page.ts';
import { memberPage } from './directory/member-page.ts';
import { membersPage } from './directory/members-page.ts';
import { searchPage } from './directory/search-page.ts';
import { historyPage } from './history/history-page.ts';
import { acceptPage, acceptRoutes } from './operate/accept-page.ts';
import { eventsPage } from './operate/events-page.ts';
import { keysPage } from './operate/keys-page.ts';
import { observePage } from './operate/observe-page.ts';
import { overviewPage } from './overview/overview-page.ts';
import { attemptPage } from './recorder/attempt-page.ts';
import { attemptsPage } from './recorder/attempts-page.ts';
import { trafficPage } from './traffic/traffic-page.ts';

/** All pages of the console. Those with an entry are in the order of the navigation. */
export const PAGES: readonly ConsolePage[] = [
  { path: '/', title: 'Overview', entry: 'Overview', show: overviewPage },
  { path: '/search', title: 'Search', under: '/', show: searchPage },
  { path: '/connections', title: 'Connections', entry: 'Connections', show: attemptsPage },
  { path: '/connections/:id', title: 'Connection', show: attemptPage },
  { path: '/history', title: 'History', entry: 'History', show: historyPage },
  { path: '/apps', title: 'Apps', entry: 'Apps', show: appsPage },
  { path: '/apps/:id', title: 'App', show: appPage },
  { path: '/members', title: 'Members', entry: 'Members', show: membersPage },
  { path: '/members/:id', title: 'Member', show: memberPage },
  { path: '/grants', title: 'Grants', entry: 'Grants', show: grantsPage },
  { path: '/grants/:id', title: 'Grant', show: grantPage },
  { path: '/traffic', title: 'Traffic', entry: 'Traffic', show: trafficPage },
  { path: '/keys', title: 'Signing keys', entry: 'Keys', show: keysPage },
  { path: '/events', title: 'Events for your backend', entry: 'Events', show: eventsPage },
  { path: '/observe', title: 'Observe mode', entry: 'Observe mode', show: observePage },
  { path: '/observe/accept', title: 'Accept the proposed routes', show: acceptPage, submit: acceptRoutes },
  ...ACTION_PAGES,
];
