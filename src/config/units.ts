import { z } from 'zod';
import { positive } from './name.ts';

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;
const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

const DURATION = 'must be a duration such as 500ms, 30s, 10m, 8h or 30d';
const SIZE = 'must be a size such as 64KiB or 1MiB';

/** A number followed by a unit, multiplied by what the unit stands for. */
function amount(units: Readonly<Record<string, number>>, message: string, example: string) {
  return z
    .string(message)
    .regex(new RegExp(`^\\d+(${Object.keys(units).join('|')})$`), message)
    .transform((given) => Number.parseInt(given, 10) * (units[given.replace(/^\d+/, '')] ?? Number.NaN))
    .meta({ examples: [example] });
}

/** A duration such as `500ms`, `10s`, `10m`, `8h` or `30d`, parsed to seconds. */
export const duration = amount(SECONDS, DURATION, '10m');

/** A size such as `64KiB` or `1MiB`, parsed to bytes. */
export const size = amount(BYTES, SIZE, '1MiB');

const RATE = 'must be a rate such as { requests: 600, per: 1m }, or unlimited';

/** A rate limit, parsed to a number of requests and the seconds they apply to; `unlimited` becomes undefined. */
export const rate = z
  .union(
    [
      z.strictObject({
        requests: positive.describe('Number of requests.'),
        per: duration.pipe(z.number().min(1).max(SECONDS.d)).describe('Period they are counted in, from 1s to 1d.'),
      }),
      z.literal('unlimited'),
    ],
    RATE,
  )
  .transform((given) => (given === 'unlimited' ? undefined : given));

const SIZE_OR_UNLIMITED = `${SIZE}, or unlimited`;

/** A size, parsed to bytes; `unlimited` becomes Infinity. */
export const sizeOrUnlimited = z
  .string(SIZE_OR_UNLIMITED)
  .regex(/^(unlimited|\d+(B|KiB|MiB|GiB))$/, SIZE_OR_UNLIMITED)
  .transform((text) => (text === 'unlimited' ? Number.POSITIVE_INFINITY : size.parse(text)))
  .meta({ examples: ['10MiB', 'unlimited'] });
