import { counted } from '../../../../http/amounts.ts';
import { filled } from '../../../texts.ts';
import type { Check } from '../../check.ts';
import { checkEach, failure, warning } from '../../finding.ts';
import { type ExaminedListing, type ListingFacts, listingChecks } from '../listing.ts';
import rules from './rules.json' with { type: 'json' };

/**
 * What a rule wants of the values at its pointers, in which `*` stands for every member, and `@` for the names of the
 * members: `is` fits one of them, `not` fits none, and none is above `most`.
 */
interface Row {
  readonly id: string;
  readonly of?: 'tools' | 'calls' | 'cards';
  readonly who?: string;
  readonly good?: string;
  readonly at: readonly string[];
  readonly is?: string;
  readonly not?: string;
  readonly most?: number;
  readonly wrong: string;
  readonly level?: string;
}

const ROWS = rules.rows as readonly Row[];

/** The checks that are rows of data. Each reports the first row that a tool, a call or a card does not fit. */
export const ROW_CHECKS: readonly Check<ExaminedListing, ListingFacts>[] = [
  ...Map.groupBy(ROWS, ({ id }) => id),
].flatMap(([id, rows]) => {
  const of = rows[0]?.of ?? 'tools';
  return listingChecks([of], {
    [id](known) {
      const own = rows.filter(({ who = known.directory }) => who === known.directory);
      const items: readonly { readonly name: string }[] = known[of];
      const good = filled(rows[0]?.good ?? '', { count: counted(items.length, 'tool') });
      return checkEach(good, items, (item) => {
        const wrong = own.map((row) => [row, wrongIn(row, item)] as const).find(([, found]) => found !== undefined);
        if (wrong === undefined) return undefined;
        const [{ wrong: says, level }, found = ''] = wrong;
        const seen = `${item.name} ${filled(says, { found, length: found.length })}`;
        return level === 'warning' ? warning(seen) : failure(seen);
      });
    },
  });
});

/** What is wrong among the values; undefined if nothing is. */
function wrongIn({ at, is = '', not, most = Number.POSITIVE_INFINITY }: Row, item: object): string | undefined {
  const values = at.flatMap((pointer) => valuesAt(item, pointer.split('/').slice(1))).map(String);
  if (is !== '' && !values.some((value) => new RegExp(is).test(value))) return values[0] ?? '';
  const unfit = not === undefined ? undefined : new RegExp(not, 'i');
  return values
    .map((value) => (Number(value) > most ? value : unfit?.exec(value)?.[0]))
    .find((found) => found !== undefined);
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): readonly unknown[] {
  if (step === undefined) return value === undefined ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  if (step === '@') return Object.keys(value);
  const members = Object.entries(value).filter(([name]) => step === '*' || step === name);
  return members.flatMap(([, member]) => valuesAt(member, rest));
}
