import { GatewayError } from '../errors.ts';
import type { Store } from '../storage/store.ts';

/** The same store; `failed` is called whenever it could not do its work. */
export function observedStore(store: Store, failed: () => void): Store {
  const watch = <T>(work: Promise<T>): Promise<T> => {
    work.catch((thrown: unknown) => {
      if (thrown instanceof GatewayError && thrown.code === 'store_unavailable') failed();
    });
    return work;
  };
  return {
    get: (kind, id) => watch(store.get(kind, id)),
    findBy: (kind, name, value, limit) => watch(store.findBy(kind, name, value, limit)),
    count: (kind, name, value) => watch(store.count(kind, name, value)),
    scan: (kind, from, limit) => watch(store.scan(kind, from, limit)),
    commit: (mutations) => watch(store.commit(mutations)),
    sweep: (limit) => watch(store.sweep(limit)),
    close: () => store.close(),
  };
}
