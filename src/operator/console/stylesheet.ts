import { palette } from '../../authorization-server/pages/stylesheet.ts';
import { inkOn } from '../../config/colour.ts';
import { codePath, readInstalled } from '../../installation.ts';

/** The stylesheet of the console, in the colours of the members' pages. */
export function consoleStylesheet(colour: string): string {
  return palette(colour) + readInstalled(codePath('operator/console/console.css')).toString('utf8');
}

/** The icon of the tab: a gate, in the colour of the pages. */
export function consoleIcon(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colour}"/><path d="M9 25V12a7 7 0 0 1 14 0v13M16 9v16" fill="none" stroke="${inkOn(colour)}" stroke-width="3" stroke-linecap="round"/></svg>`;
}
