import { Turns } from '../http/turns.ts';
import { cleanValue } from './cleaning.ts';
import { fitsInto } from './json-size.ts';

/** What of a value still fits, and in words what was left out. */
interface Shortened {
  readonly value: unknown;
  readonly left: string;
}

/** Characters of one text, when a value without lists is too long, or one item of a list is. */
const TEXTS = [2000, 500, 100];

/**
 * Shortens a cleaned value that is too long and cannot be told in parts: its lists end after a whole item, all after the
 * same number; those within items, and then texts, only where that is not enough. No step looks at more of the value than
 * fits into `room`, in bytes of JSON.
 * @returns as much of it as fits; undefined when nothing of use would.
 */
export async function shorten(value: unknown, room: number): Promise<Shortened | undefined> {
  const turns = new Turns();
  const longest = Number.POSITIVE_INFINITY;
  for (const within of [false, true]) {
    if (!fitsInto(room, value, { most: 1, within, longest })) continue;
    // An item takes two bytes at least, with its comma.
    let [least, most] = [1, Math.ceil(room / 2)];
    while (least < most) {
      if (turns.isOver) await turns.next();
      const middle = Math.ceil((least + most) / 2);
      if (fitsInto(room, value, { most: middle, within, longest })) least = middle;
      else most = middle - 1;
    }
    return told(value, least, within);
  }
  for (const longest of TEXTS) {
    for (const most of [Number.POSITIVE_INFINITY, 1]) {
      if (turns.isOver) await turns.next();
      if (!fitsInto(room, value, { most, within: true, longest })) continue;
      const { value: lists, left } = told(value, most, true);
      const short = await cleanValue(lists, longest);
      const texts = `texts after their first ${longest} characters`;
      if (fitsInto(room, short)) return { value: short, left: left === '' ? texts : `${left}; ${texts}` };
    }
  }
  return undefined;
}

/** A list that ended early: where it stands, how much of it is there, and whether it is one of many of that place. */
type Told = (place: string, shown: number, of: number, isOne: boolean) => void;

/** The value with no list longer than `most`; lists within items are left as they are unless `within`. */
function capped(value: unknown, most: number, within: boolean, tell: Told, place = '', isOne = true): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length > most) tell(place, most, value.length, isOne);
    const items = value.length > most ? value.slice(0, most) : value;
    return within ? items.map((item) => capped(item, most, within, tell, place, false)) : items;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const at = place === '' ? name : `${place}.${name}`;
      return [name, capped(inner, most, within, tell, at, isOne)];
    }),
  );
}
const MOST_PLACES = 5;
/** Names come from the school; what is no name is not brought into words of ours. */
const NAME = /^[A-Za-z0-9_.$-]{1,80}$/;

function told(value: unknown, most: number, within: boolean): Shortened {
  const places = new Map<string, string>();
  const short = capped(value, most, within, (place, shown, of, isOne) => {
    const name = place === '' ? 'items' : NAME.test(place) ? place : 'a list';
    places.set(place, isOne ? `${name} after the first ${shown} of ${of}` : `${name} after the first ${shown} of each`);
  });
  return { value: short, left: [...places.values()].slice(0, MOST_PLACES).join('; ') };
}
