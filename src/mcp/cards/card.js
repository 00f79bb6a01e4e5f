// Runs in the frame of a card, which a host shows for the result of a tool (MCP Apps, 2026-01-26). It fills the template with
// the result and tells the host what a button asks for. Values become text, never markup.
(() => {
  const host = window.parent;
  const card = document.getElementById('card');
  const waiting = new Map();
  let lastId = 0;
  /** That of the host. */
  let wanted = '';
  /** That of the template, or else of the host. */
  let locale;
  let shown;

  const send = (message) => host.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      send({ id: lastId, method, params });
    });

  const FORMATS = {
    date: (value) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(new Date(value)),
    money: (value, data) => new Intl.NumberFormat(locale, currencyOf(data)).format(Number(value)),
    cents: (value, data) => new Intl.NumberFormat(locale, currencyOf(data)).format(Number(value) / 100),
    percent: (value) => new Intl.NumberFormat(locale, { style: 'percent' }).format(Number(value) / 100),
  };
  const currencyOf = ({ currency }) => ({ style: 'currency', currency });

  /** The value at `name`, or at `name.of.more`; the whole with `.`. */
  const valueAt = (data, path) =>
    path === '.'
      ? data['.']
      : path.split('.').reduce((all, name) => (Object.hasOwn(Object(all), name) ? all[name] : undefined), data);
  const isThere = (value) =>
    value !== undefined && value !== null && value !== false && value !== '' && value.length !== 0;

  const textOf = (value, data, format) => {
    try {
      return FORMATS[format]?.(value, data) ?? String(value);
    } catch {
      // Not a date, or not an amount.
      return String(value);
    }
  };
  const filled = (text, data) => text.replace(/\{([\w.]+)\}/g, (_all, path) => String(valueAt(data, path) ?? ''));

  const fill = (element, data) => {
    const { each, most, if: condition, unless, text, format, value, message, link } = element.dataset;
    if (each !== undefined) {
      const pattern = element.cloneNode(true);
      delete pattern.dataset.each;
      const items = valueAt(data, each);
      for (const item of Array.isArray(items) ? items.slice(0, most) : []) {
        const copy = pattern.cloneNode(true);
        element.before(copy);
        fill(copy, { ...data, ...Object(item), '.': item });
      }
      element.remove();
      return;
    }
    if (
      (condition !== undefined && !isThere(valueAt(data, condition))) ||
      (unless !== undefined && isThere(valueAt(data, unless)))
    ) {
      element.remove();
      return;
    }
    if (text !== undefined) {
      const found = valueAt(data, text);
      element.textContent = isThere(found) ? textOf(found, data, format) : '';
    }
    if (value !== undefined) element.value = Number(valueAt(data, value)) || 0;
    if (message !== undefined)
      element.addEventListener('click', () =>
        request('ui/message', { role: 'user', content: [{ type: 'text', text: filled(message, data) }] }).catch(
          () => {},
        ),
      );
    if (link !== undefined) {
      const url = valueAt(data, link);
      if (typeof url !== 'string' || URL.parse(url)?.protocol !== 'https:') element.remove();
      else element.addEventListener('click', () => request('ui/open-link', { url }).catch(() => {}));
    }
    for (const child of [...element.children]) fill(child, data);
  };

  /** The template in the language of the host, or else in the first language of the pages. */
  const templateFor = (kind) => {
    const all = [...document.querySelectorAll(`template.${kind}`)];
    const [tag, primary] = [wanted.toLowerCase(), wanted.toLowerCase().split('-')[0]];
    const isAsked = ({ lang }) => lang !== '' && `${tag}-`.startsWith(`${lang.toLowerCase()}-`);
    const template = all.find(isAsked) ?? all.find(({ lang }) => lang.split('-')[0] === primary) ?? all[0];
    const { lang, dir, dataset } = template ?? { dataset: {} };
    locale = dataset.locale || wanted || undefined;
    if (lang) Object.assign(document.documentElement, { lang, dir });
    return template?.content.cloneNode(true);
  };

  const show = (result) => {
    shown = result;
    const data = Object(result?.structuredContent);
    const texts = (result?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const approval = result?._meta?.['coursegate/approval'];
    if (approval !== undefined) {
      card.replaceChildren(templateFor('approval'));
      for (const child of [...card.children]) fill(child, approval);
      card.removeAttribute('aria-busy');
      return;
    }
    const template = templateFor('card');
    if (result?.isError || result?.structuredContent === undefined || template === undefined) {
      // What a host without cards would show.
      const paragraph = document.createElement('p');
      paragraph.textContent = texts.join('\n');
      card.replaceChildren(paragraph);
    } else {
      card.replaceChildren(template);
      for (const child of [...card.children]) fill(child, data);
    }
    card.removeAttribute('aria-busy');
  };

  const dress = ({ theme, styles, locale: asked } = {}) => {
    const root = document.documentElement;
    if (theme !== undefined) root.style.colorScheme = theme;
    for (const [name, value] of Object.entries(styles?.variables ?? {}))
      if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
    if (typeof asked !== 'string' || asked === wanted) return;
    wanted = asked;
    if (shown !== undefined) show(shown);
  };

  window.addEventListener('message', ({ source, data }) => {
    if (source !== host || data?.jsonrpc !== '2.0') return;
    const { id, method, params, result, error } = data;
    if (method === undefined) {
      const { resolve, reject } = waiting.get(id) ?? {};
      waiting.delete(id);
      if (error === undefined) resolve?.(result);
      else reject?.(new Error(error.message));
    } else if (method === 'ui/notifications/tool-result') show(params);
    else if (method === 'ui/notifications/tool-cancelled') card.removeAttribute('aria-busy');
    else if (method === 'ui/notifications/host-context-changed') dress(params);
    else if (method === 'ping' || method === 'ui/resource-teardown') send({ id, result: {} });
    else if (id !== undefined) send({ id, error: { code: -32601, message: 'A card has no such method.' } });
  });

  const tellSize = () => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    send({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(width), height: Math.ceil(height) } });
  };

  const { name, version } = document.body.dataset;
  request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name, version },
    appCapabilities: { availableDisplayModes: ['inline'] },
  }).then(
    ({ hostContext }) => {
      dress(hostContext);
      send({ method: 'ui/notifications/initialized' });
      new ResizeObserver(tellSize).observe(document.documentElement);
    },
    // The host shows no cards after all.
    () => {},
  );
})();
