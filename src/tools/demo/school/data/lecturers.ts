import type { Subject } from './courses.ts';

const TEXTS: readonly (readonly [subject: Subject, name: string, bio: string])[] = [
  ['sea', 'Maren Holt', 'Twenty years of pilotage on the Frisian coast.'],
  ['sea', 'Tomasz Wilk', 'Yacht delivery skipper, fourteen Atlantic crossings.'],
  ['wood', 'Ewan Baird', 'Cabinet maker with a workshop over the old net loft.'],
  ['wood', 'Ingrid Sørli', 'Turner and carver, trained in Telemark.'],
  ['art', 'Beatriz Amaral', 'Painter, and teacher of people who say they cannot draw.'],
  ['art', 'Kofi Mensah', 'Printmaker and illustrator of eleven picture books.'],
  ['photo', 'Yuki Tanabe', 'Press photographer for a decade, now slower on purpose.'],
  ['photo', 'Hannah Reuter', 'Documentary film maker and camera repairer.'],
  ['words', 'Declan Moore', 'Novelist and former newspaper sub-editor.'],
  ['words', 'Lucía Ferrer', 'Language teacher, tells stories in three of them.'],
  ['kitchen', 'Amélie Garnier', 'Baker, up at three, still cheerful.'],
  ['kitchen', 'Rohan Iyer', 'Cook and food chemist.'],
  ['data', 'Priya Nair', 'Statistician in public health.'],
  ['data', 'Jonas Lindqvist', 'Database engineer and patient explainer.'],
  ['garden', 'Siobhán Keane', 'Head gardener of a walled garden by the sea.'],
  ['garden', 'Marek Novotný', 'Pomologist; keeps ninety kinds of apple alive.'],
];

/** Every lecturer, two per subject. */
export const LECTURERS = TEXTS.map(([subject, name, bio], index) => {
  return { id: `l-${index + 1}`, slug: slugOf(name), name, subject, bio };
});

/** Turns a title or name into a slug: lower-case ASCII words joined by hyphens. */
export function slugOf(text: string): string {
  return text
    .replaceAll('ø', 'o')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
