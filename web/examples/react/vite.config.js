// heed finds its workers and modules by new URL(..., import.meta.url): Vite must serve the package
// as it is, bundle workers as modules, and leave small files out of the page's JavaScript, since
// fetching data: addresses is against a strict policy.
export default {
  base: './',
  optimizeDeps: { exclude: ['heed'] },
  worker: { format: 'es' },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } }
}
