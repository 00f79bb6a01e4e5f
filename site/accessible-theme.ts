import { fileURLToPath } from 'node:url';

const SEARCH = fileURLToPath(new URL('search.ts', import.meta.url));

/**
 * Corrections to the markup of VitePress's theme, made when it is compiled: what looks like a button is one, and nothing
 * that can be pressed is inside something else that can be. A new version of VitePress in which a text is not found fails
 * the build, so that each correction is looked at again.
 */
const CORRECTIONS: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  // Titles of groups that do not fold are no buttons, and the arrow of those that do says what it unfolds.
  'VPSidebarItem.vue': [
    [':role="itemRole"', ''],
    [':tabindex="item.items && 0"', ''],
    [
      '<div\n        v-if="item.collapsed != null',
      '<button\n        type="button"\n        v-if="item.collapsed != null',
    ],
    [
      'role="button"\n        aria-label="toggle section"',
      `:aria-label="'Pages below ' + item.text" :aria-expanded="!collapsed"`,
    ],
    ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
    ['caret-icon" />\n      </div>', 'caret-icon" />\n      </button>'],
  ],
  // A dialog with a list of links. It was a button, with options that contain links.
  // Its results are ranked by what a page is for.
  'VPLocalSearchBox.vue': [
    ['.search(filterTextValue)', '.search(searchedWords(filterTextValue), { boostDocument: searchWeight })'],
    ['import MiniSearch,', `import { searchWeight, searchedWords } from '${SEARCH}'\nimport MiniSearch,`],
    [
      '<kbd :aria-label="translate(\'modal.footer.navigateUp',
      '<kbd role="img" :aria-label="translate(\'modal.footer.navigateUp',
    ],
    [
      '<kbd :aria-label="translate(\'modal.footer.navigateDown',
      '<kbd role="img" :aria-label="translate(\'modal.footer.navigateDown',
    ],
    [
      '<kbd :aria-label="translate(\'modal.footer.selectKey',
      '<kbd role="img" :aria-label="translate(\'modal.footer.selectKey',
    ],
    ['role="button"', 'role="dialog" aria-modal="true"'],
    [':aria-owns="results?.length ? \'localsearch-list\' : undefined"', ''],
    ['aria-expanded="true"\n      aria-haspopup="listbox"', ''],
    [':aria-activedescendant="selectedIndex > -1 ? (\'localsearch-item-\' + selectedIndex) : undefined"', ''],
    ['aria-autocomplete="both"', ''],
    [':role="results?.length ? \'listbox\' : undefined"', ''],
    [':aria-selected="selectedIndex === index ? \'true\' : \'false\'"\n            role="option"', ''],
  ],
};

/** A plugin of Vite. */
export function accessibleTheme() {
  return {
    name: 'accessible-theme',
    enforce: 'pre' as const,
    transform(code: string, id: string): string | undefined {
      const file = /\/theme-default\/components\/(\w+\.vue)$/.exec(id)?.[1] ?? '';
      const corrections = CORRECTIONS[file];
      return corrections?.reduce((text, [from, to]) => {
        if (text.split(from).length !== 2) throw new Error(`${file} of VitePress does not have one ${from}`);
        return text.replace(from, () => to);
      }, code);
    },
  };
}
