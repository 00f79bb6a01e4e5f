export async function builtBinaries() {
  return { binaries: '/tmp/out/h3/bin', notices: ['/work/wt/deb/LICENSE'] };
}
