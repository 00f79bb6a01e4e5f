import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

export const ROLES_KEY = 'roles-key-0123456789';

/** The ids of SAM and OLU. */
export const [sam, olu] = ['m-1001', 'm-1002'] as const;

/** What the backend says of a member: roles at the school, and in courses. */
interface Said {
  readonly school?: unknown;
  readonly courses?: unknown;
}

/** A backend that serves the URL of `roles`. It knows only who is in `records`, by member id. */
export interface RolesSchool {
  readonly upstream: RecordingUpstream;
  readonly records: Map<string, Said>;
  recover(): void;
  asked(): readonly string[];
}

export async function startRolesSchool(): Promise<RolesSchool> {
  const records = new Map<string, Said>();
  const upstream = await startRecordingUpstream();
  const recover = () =>
    upstream.script((request, response) => {
      const found = records.get(decodeURIComponent(request.url?.split('/').at(-1) ?? ''));
      const trusted = request.headers.authorization === `Bearer ${ROLES_KEY}`;
      response.writeHead(!trusted ? 403 : found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ member: found ?? {} }));
    });
  recover();
  return { upstream, records, recover, asked: () => upstream.requests.map(({ target }) => target) };
}

/** The settings of the gate for it. */
export const rolesFrom = ({ upstream }: RolesSchool, more: Record<string, unknown> = {}) => ({
  upstreams: { roles: { url: upstream.url, breaker: { failures: 0 } } },
  roles: {
    upstream: 'roles',
    path: '/internal/roles/{member.id}',
    key: { scheme: 'Bearer', secret: { env: 'ROLES_KEY' } },
    school: '/member/school',
    courses: '/member/courses',
    names: { editingteacher: 'instructor' },
    ...more,
  },
});
