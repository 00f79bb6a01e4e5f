import { COMMAND_SECRET } from '../../../support/commands.ts';
import { startRecordingUpstream } from '../../../support/recording-upstream.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { type DocumentHost, startDocumentHost } from '../../client-documents/support/document-host.ts';
import type { SignedIn } from './gate-pages.ts';

/** A gate with a school and a host of client documents. */
export interface Stand {
  readonly host: DocumentHost;
  readonly world: World;
  /** Whom the school says is signed in, and since when: long ago, so that the member can go back without a new sign-in. */
  readonly member: SignedIn;
  close(): Promise<unknown>;
}

/** One for everyone, and one whose calls members approve. */
const TOOLS = [
  { name: 'look', title: 'Look', description: 'Looks.', get: { upstream: 'school', path: '/look' } },
  {
    ...{ name: 'announce', title: 'Post an announcement in a course', description: 'Posts.', approve: true },
    ...{ scopes: ['courses:write'], route: 'POST /api/v1/courses' },
    input: { properties: { course: { type: 'string', title: 'Course' }, text: { type: 'string' }, options: {} } },
  },
];

export async function openStand(): Promise<Stand> {
  const member: SignedIn = { id: 'm-1', email: 'ann@school.example', since: 1_700_000_000 };
  const host = await startDocumentHost();
  const school = await startRecordingUpstream((request, response) => {
    const known = request.url === '/api/me' && request.headers.cookie !== undefined;
    const status = member.failing ? 503 : request.url === '/api/me' && !known ? 401 : 200;
    response.writeHead(status, { 'content-type': known ? 'application/json' : 'text/plain' });
    response.end(known ? JSON.stringify(member) : 'Sign in');
  });
  const world = await startWorld({
    profile: 'A',
    documentNetwork: host.network,
    environment: { COMMAND_SECRET },
    overrides: {
      admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
      upstreams: { school: { url: school.url } },
      login: { whoami: { authTime: '/since' } },
      mcp: { tools: TOOLS, resources: [], prompts: [] },
      pages: { support: 'mailto:help@school.example', apps: { back: '/my/account' } },
    },
  });
  return { host, world, member, close: () => Promise.all([world.close(), host.close(), school.close()]) };
}
