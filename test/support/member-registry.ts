import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts';

/** What a backend says of one member when the gate asks it without them. */
interface MemberRecord {
  active: unknown;
  version: unknown;
}

/** A backend's URL for `login.recheck`: who is not in its records is 404. */
export interface MemberRegistry {
  readonly upstream: RecordingUpstream;
  /** By id; a record is made active, of version v1, for whoever is asked for first. */
  readonly records: Map<string, MemberRecord>;
  /** Answers as the records say, until told otherwise by `upstream.script`. */
  recover(): void;
  /** The paths asked for so far. */
  asked(): readonly string[];
}

export const REGISTRY_KEY = 'registry-key-0123456789';

export async function startMemberRegistry(): Promise<MemberRegistry> {
  const records = new Map<string, MemberRecord>();
  const upstream = await startRecordingUpstream();
  const recover = () =>
    upstream.script((request, response) => {
      const id = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
      const trusted = request.headers['x-service-key'] === REGISTRY_KEY;
      const found = records.get(id);
      response.writeHead(!trusted ? 403 : found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(found ?? {}));
    });
  recover();
  return { upstream, records, recover, asked: () => upstream.requests.map(({ target }) => target) };
}
