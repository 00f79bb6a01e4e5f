// Work of WebCrypto runs on threads: it ends when it ends, and nothing that is simulated may happen before.

const WORK = ['sign', 'verify', 'digest', 'importKey', 'exportKey', 'generateKey'] as const;

let pending = 0;

/** How much of it has begun and not ended. */
export function pendingKeyWork(): number {
  return pending;
}

/** Key pairs that were made before. An RSA pair takes as long as ten schedules. */
const pairs = new Map<string, { readonly stock: CryptoKeyPair[]; made: number }>();
const PAIRS = 6;
/** The first of each algorithm are the keys that every schedule begins with. */
const FIRST = 2;

/** Counts other work that is not simulated. Returns how to say that it has ended. */
export function realWork(): () => void {
  pending += 1;
  return () => {
    pending -= 1;
  };
}

/** Counts the work from now on, and generates keys from a stock. Returns how to undo that. */
export function watchKeyWork(): () => void {
  const { subtle } = globalThis.crypto;
  for (const name of WORK) {
    const original = subtle[name].bind(subtle) as (...given: unknown[]) => Promise<unknown>;
    const watched = async (...given: unknown[]): Promise<unknown> => {
      pending += 1;
      try {
        return await (name === 'generateKey' ? fromStock(original, given) : original(...given));
      } finally {
        pending -= 1;
      }
    };
    Object.defineProperty(subtle, name, { value: watched, configurable: true, writable: true });
  }
  return () => {
    for (const name of WORK) delete (subtle as unknown as Record<string, unknown>)[name];
  };
}

/** The next pair of this algorithm, in turn. */
async function fromStock(make: (...given: unknown[]) => Promise<unknown>, given: unknown[]): Promise<unknown> {
  const label = JSON.stringify(given[0]);
  const of = pairs.get(label) ?? { stock: [], made: 0 };
  pairs.set(label, of);
  of.made += 1;
  if (of.made <= FIRST) return make(...given);
  if (of.stock.length === PAIRS) of.stock.push(of.stock.shift() as CryptoKeyPair);
  else of.stock.push((await make(...given)) as CryptoKeyPair);
  return of.stock.at(-1);
}
