import { useData, useRoute } from 'vitepress';
import { defineComponent, h } from 'vue';
import type { Version } from '../../settings.ts';

/** The menu of versions. Each leads to the same page of that version if it has it, otherwise to its front page. */
export const VersionMenu = defineComponent({
  setup() {
    const { site, theme } = useData<{ versions: readonly Version[]; version: string }>();
    const route = useRoute();
    return () => {
      const { versions, version } = theme.value;
      if (versions.length < 2) return null;
      const here = decodeURI(route.path).slice(site.value.base.length);
      const links = versions.map(({ name, base, addresses }) =>
        h('li', [
          h(
            'a',
            {
              href: base + (addresses.includes(here) ? here : ''),
              // Another version is another site: without a target, VitePress would look for the page in this one.
              target: '_self',
              ...(name === version ? { 'aria-current': 'true' } : {}),
            },
            name === 'next' ? 'next (not released)' : name,
          ),
        ]),
      );
      return h('details', { class: 'version-menu', key: route.path }, [
        h('summary', { 'aria-label': `Version ${version}, other versions` }, version),
        h('ul', links),
      ]);
    };
  },
});
