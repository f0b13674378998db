// The bundle has a page, one script, one style sheet and an icon, all from /console/; nothing is
// inline, as the page's Content-Security-Policy wants it.
export default {
  base: "/console/",
  logLevel: "warn",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    outDir: "bundle",
    assetsDir: "",
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2022",
    reportCompressedSize: false,
  },
};
