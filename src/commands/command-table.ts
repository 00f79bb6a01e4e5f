import type { Define } from './command.ts';

type Load = () => Promise<{ readonly define: Define }>;

/** Every command by its name, under the heading it is listed under. What the help says of them is in commands.json. */
export const COMMAND_TABLE: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Start:': {
    demo: () => import('./demo.ts'),
    init: () => import('./init.ts'),
  },
  'Configure:': {
    check: () => import('./check.ts'),
    config: () => import('./config.ts'),
    snippets: () => import('./snippets.ts'),
    export: () => import('./export.ts'),
    account: () => import('./account.ts'),
    mcp: () => import('./mcp.ts'),
    'hash-password': () => import('./hash-password.ts'),
  },
  'Run:': {
    serve: () => import('./serve.ts'),
    backup: () => import('./backup.ts'),
    store: () => import('./store.ts'),
    secret: () => import('./secret.ts'),
  },
  'Inspect:': {
    health: () => import('./health.ts'),
    doctor: () => import('./doctor.ts'),
    connect: () => import('./connect.ts'),
    observed: () => import('./observed.ts'),
  },
  'Operate:': {
    console: () => import('./console.ts'),
    clients: () => import('./clients.ts'),
    members: () => import('./members.ts'),
    grants: () => import('./grants.ts'),
    keys: () => import('./keys.ts'),
    events: () => import('./events.ts'),
    school: () => import('./school.ts'),
  },
  'Help:': {
    completion: () => import('./completion.ts'),
  },
};
