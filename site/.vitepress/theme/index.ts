import { onContentUpdated, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { defineComponent, h } from 'vue';
import { scrollWithKeyboard } from './scroll-with-keyboard.ts';
import { VersionMenu } from './version-menu.ts';
import './style.css';
import './runs.css';
import './menu-and-front.css';

const Layout = defineComponent({
  setup() {
    onContentUpdated(scrollWithKeyboard);
    return () =>
      h(DefaultTheme.Layout, null, {
        'nav-bar-content-after': () => h(VersionMenu),
        'nav-screen-content-after': () => h(VersionMenu),
      });
  },
});

export default { extends: DefaultTheme, Layout } satisfies Theme;
