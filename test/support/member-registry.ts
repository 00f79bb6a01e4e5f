import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts';

/** What a backend returns for one member when the gate asks without their session. */
interface MemberRecord {
  active: unknown;
  version: unknown;
}

/** A backend that serves the URL of `login.recheck`. It responds with 404 to members it has no record of. */
export interface MemberRegistry {
  readonly upstream: RecordingUpstream;
  /** Keyed by member ID. */
  readonly records: Map<string, MemberRecord>;
  /** Responds from the records again, after `upstream.script` replaced that. */
  recover(): void;
  /** The paths requested so far. */
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
