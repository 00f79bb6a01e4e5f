let observed: ResizeObserver | undefined;

/** Lets the Tab key reach tables that are wider than the page, so that the arrow keys can scroll them. */
export function scrollWithKeyboard(): void {
  observed ??= new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth;
      if (scrolls) for (const [name, value] of WHEN_SCROLLING) target.setAttribute(name, value);
      else for (const [name] of WHEN_SCROLLING) target.removeAttribute(name);
    }
  });
  for (const table of document.querySelectorAll('.table-scroll')) observed.observe(table);
}

const WHEN_SCROLLING = [
  ['tabindex', '0'],
  ['role', 'group'],
  ['aria-label', 'Table, scrolls sideways'],
] as const;
