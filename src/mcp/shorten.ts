import { Turns } from '../http/turns.ts';
import { cleanValue } from './cleaning.ts';
import { fitsInto } from './json-size.ts';

/** The shortened value, and a description of what was left out. */
type Shortened = ReturnType<typeof cutLists>;

/** The largest number between `least`, which fits, and `most` for which `fits` holds. */
export async function longestThat(fits: (length: number) => boolean, least: number, most: number): Promise<number> {
  const turns = new Turns();
  let [from, to] = [least, most];
  while (from < to) {
    if (turns.isOver) await turns.next();
    const middle = Math.ceil((from + to) / 2);
    if (fits(middle)) from = middle;
    else to = middle - 1;
  }
  return from;
}

/** Lengths to which texts are cut if shortening the lists is not enough. */
const TEXTS = [2000, 500, 100];

/**
 * Shortens a cleaned value that is too long and cannot be split into pages. Cuts its lists between items, all to the
 * same number; lists within items, and then texts, only if that is not enough. No step reads more of the value than
 * fits into `room` (bytes of JSON).
 * @returns as much as fits; undefined if nothing useful would
 */
export async function shorten(value: unknown, room: number): Promise<Shortened | undefined> {
  const turns = new Turns();
  const longest = Number.POSITIVE_INFINITY;
  for (const within of [false, true]) {
    if (!fitsInto(room, value, { most: 1, within, longest })) continue;
    // An item takes at least two bytes, with its comma.
    const most = Math.ceil(room / 2);
    return cutLists(
      value,
      await longestThat((most) => fitsInto(room, value, { most, within, longest }), 1, most),
      within,
    );
  }
  for (const longest of TEXTS) {
    for (const most of [Number.POSITIVE_INFINITY, 1]) {
      if (turns.isOver) await turns.next();
      if (!fitsInto(room, value, { most, within: true, longest })) continue;
      const { value: lists, left } = cutLists(value, most, true);
      const short = await cleanValue(lists, longest);
      const texts = `texts after their first ${longest} characters`;
      if (fitsInto(room, short)) return { value: short, left: left === '' ? texts : `${left}; ${texts}` };
    }
  }
  return undefined;
}

const MOST_PLACES = 5;
/** Names come from the course site. Only plain names are used in our own messages. */
const NAME = /^[A-Za-z0-9_.$-]{1,80}$/;

/**
 * The value with no list longer than `most`, and which lists were cut. Lists within items are left as they are unless
 * `within` is set.
 */
function cutLists(value: unknown, most: number, within: boolean) {
  const places = new Map<string, string>();
  const cut = (part: unknown, place: string, isOnlyList: boolean): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    if (!Array.isArray(part)) {
      const members = Object.entries(part);
      const below = (name: string) => (place === '' ? name : `${place}.${name}`);
      return Object.fromEntries(members.map(([name, inner]) => [name, cut(inner, below(name), isOnlyList)]));
    }
    if (part.length > most) {
      const name = place === '' ? 'items' : NAME.test(place) ? place : 'a list';
      places.set(place, `${name} after the first ${most} of ${isOnlyList ? part.length : 'each'}`);
    }
    const items = part.length > most ? part.slice(0, most) : part;
    return within ? items.map((item) => cut(item, place, false)) : items;
  };
  const short = cut(value, '', true);
  return { value: short, left: [...places.values()].slice(0, MOST_PLACES).join('; ') };
}
