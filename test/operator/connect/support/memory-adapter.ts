import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/** A store for one test provider. Entries never expire, since tests are short. */
export function memoryAdapter(): AdapterFactory {
  const kept = new Map<string, AdapterPayload>();
  const named = (kind: string, test: (payload: AdapterPayload) => boolean) =>
    [...kept].find(([key, payload]) => key.startsWith(`${kind}:`) && test(payload))?.[1];
  return (kind): Adapter => ({
    async upsert(id, payload) {
      kept.set(`${kind}:${id}`, payload);
    },
    async find(id) {
      return kept.get(`${kind}:${id}`);
    },
    async findByUid(uid) {
      return named(kind, (payload) => payload.uid === uid);
    },
    async findByUserCode(code) {
      return named(kind, (payload) => payload.userCode === code);
    },
    async consume(id) {
      const payload = kept.get(`${kind}:${id}`);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      kept.delete(`${kind}:${id}`);
    },
    async revokeByGrantId(grantId) {
      for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
    },
  });
}
