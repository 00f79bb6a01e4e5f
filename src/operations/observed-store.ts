import { GatewayError } from '../errors.ts';
import type { Store } from '../storage/store.ts';
import type { Metrics } from './metrics.ts';

/** Wraps a store to report each operation to the observer. */
export function observedStore(store: Store, observer: Pick<Metrics, 'storeFailed' | 'storeAsked'>): Store {
  const watch = <T>(operation: string, work: Promise<T>): Promise<T> => {
    const began = performance.now();
    work.then(
      () => observer.storeAsked(operation, performance.now() - began, false),
      (thrown: unknown) => {
        const failed = thrown instanceof GatewayError && thrown.code === 'store_unavailable';
        if (failed) observer.storeFailed();
        observer.storeAsked(operation, performance.now() - began, failed);
      },
    );
    return work;
  };
  return {
    get: (kind, id) => watch('get', store.get(kind, id)),
    findBy: (kind, name, value, limit) => watch('findBy', store.findBy(kind, name, value, limit)),
    count: (kind, name, value) => watch('count', store.count(kind, name, value)),
    scan: (kinds, from, limit) => watch('scan', store.scan(kinds, from, limit)),
    commit: (mutations, priority) => watch('commit', store.commit(mutations, priority)),
    sweep: (limit) => watch('sweep', store.sweep(limit)),
    compact: (limit) => watch('compact', store.compact(limit)),
    close: () => store.close(),
  };
}
