/**
 * The beginning of the bundle's entry. In the single binary, `require` knows only Node's own modules: it gets the other
 * files of the bundle from the assets.
 */
export const REQUIRE_ASSET = `require = ((builtin, entry) => {
  const sea = builtin('node:sea');
  if (!sea.isSea()) return builtin;
  const loaded = new Map([['./coursegate.cjs', entry]]);
  return function load(name) {
    if (!name.startsWith('./')) return builtin(name);
    if (!loaded.has(name)) {
      const chunk = { exports: {} };
      loaded.set(name, chunk);
      const filename = 'lib/' + name.slice(2);
      const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
      const run = builtin('node:vm').compileFunction(sea.getAsset(filename, 'utf8'), parameters, { filename });
      run(chunk.exports, load, chunk, __filename, __dirname);
    }
    return loaded.get(name).exports;
  };
})(require, module);
`;
