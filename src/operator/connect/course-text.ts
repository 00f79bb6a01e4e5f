import { alignedLines } from './columns.ts';
import type { Courses, ListedCourse } from './courses.ts';
import { printable } from './printable.ts';

/** When the member's access ends: a day, "for life", or a dash when unknown. */
function accessText({ access }: ListedCourse): string {
  if (access.kind === 'until') return access.date.toISOString().slice(0, 10);
  return access.kind === 'lifetime' ? 'for life' : '–';
}

/** Where the member stopped watching; a dash when unknown. */
function watchedText({ watched }: ListedCourse): string {
  if (watched.kind === 'at') return `lecture ${watched.lecture} at ${playbackTime(watched.seconds)}`;
  return watched.kind === 'none' ? 'not started' : '–';
}

/** Formats seconds as m:ss, or as h:mm:ss from one hour. */
export function playbackTime(seconds: number): string {
  const total = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  const tail = String(total % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** The courses as lines for the terminal: a summary, then a table. */
export function courseTable({ member, courses, total }: Courses): string[] {
  const who = member === undefined ? 'Courses of the site' : `${member.email ?? 'Member'} (id ${member.id})`;
  const count = courses.length < total ? `${courses.length} of ${total} courses` : `${total} courses`;
  const head = ['COURSE', 'ACCESS UNTIL', 'LAST WATCHED'];
  const rows = courses.map((course) => [course.slug, accessText(course), watchedText(course)].map(printable));
  return [printable(`${who}: ${count}`), '', ...alignedLines([head, ...rows])];
}
