// Builds the console's bundle: `node build.mjs` writes `bundle/` and `assets.rs`, and `node build.mjs --check` fails if they
// are not what the sources make.
//
// File names have a hash of their content, so that browsers may cache them for ever. The hash is that of the plain content,
// which depends on the sources and the lock file alone; another version of Node may compress it to other bytes.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

import esbuild from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const bundle = join(root, "bundle");
const axe = join(root, "../../../tests/it/console/axe.min.js.br");

/** Where the page finds the assets, relative to the page. */
const ASSETS = "graphql/console/";

const MEDIA_TYPES = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

/** GraphiQL formats JSON with a parser of JavaScript, which is larger than all of the console. */
const smallerFormatter = {
  name: "smaller-formatter",
  setup(build) {
    const printer = { path: join(root, "web/json_printer.ts") };
    build.onResolve({ filter: /^prettier\/(plugins\/estree|parser-babel)$/ }, () => printer);
    // Both names of the same file.
    build.onResolve({ filter: /^prettier\/parser-graphql$/ }, (args) =>
      build.resolve("prettier/plugins/graphql", { resolveDir: args.resolveDir, kind: args.kind }),
    );
  },
};

/** The styles of the editor are in those of GraphiQL; its fonts are replaced by those of the system. */
const smallerStyles = {
  name: "smaller-styles",
  setup(build) {
    build.onLoad({ filter: /monaco-editor\/esm\/.*\.css$/ }, () => ({ contents: "", loader: "css" }));
    build.onLoad({ filter: /graphiql\/dist\/style\.css$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const withoutFonts = text.replace(/@font-face\s*\{[^}]*font-family:\s*['"]?(Roboto|Fira Code)[^}]*\}/g, "");
      if (withoutFonts.length === text.length) throw new Error(`no fonts in ${path}`);
      return { contents: withoutFonts, loader: "css", resolveDir: dirname(path) };
    });
  },
};

/** The tabs of GraphiQL are a list of buttons, some with another one that closes them. Screen readers are told so. */
const accessibleTabs = {
  name: "accessible-tabs",
  setup(build) {
    build.onLoad({ filter: /@graphiql\/react\/dist\/components\/tabs\/index\.js$/ }, ({ path }) => {
      let text = readFileSync(path, "utf8");
      for (const [before, after] of [
        ['"aria-selected": isActive,\n', ""],
        ['role: "tab",', 'role: "listitem",'],
        ['role: "tablist",', 'role: "list",'],
      ]) {
        if (!text.includes(before)) throw new Error(`${path} has changed: no ${before}`);
        text = text.replace(before, after);
      }
      return { contents: text, loader: "js" };
    });
  },
};

/** The first field of a query; in the place of the name that it does not have. */
const FIRST_FIELD = `function firstField(query) {
  return /^\\s*(?:query\\b[^{]*)?\\{\\s*([A-Za-z_]\\w*)/.exec((query ?? "").replace(/#.*/g, ""))?.[1] ?? "New query";
}`;

/** Tools have their names below their icons; a tab without the name of an operation has that of its first field. */
const toolNames = {
  name: "tool-names",
  setup(build) {
    const change = (filter, changes) =>
      build.onLoad({ filter }, ({ path }) => {
        let text = readFileSync(path, "utf8");
        for (const [before, after] of changes) {
          if (!text.includes(before)) throw new Error(`${path} has changed: no ${before}`);
          text = text.replaceAll(before, after);
        }
        return { contents: text, loader: "js" };
      });
    const named = (icon, name) => [icon, `[${icon}, jsx("span", { className: "oq-tool", "aria-hidden": true, children: ${name} })]`];
    change(/\/graphiql\/dist\/ui\/sidebar\.js$/, [
      ["jsx(UnStyledButton,", "jsxs(UnStyledButton,"],
      named('/* @__PURE__ */ jsx(plugin_0.icon, { "aria-hidden": "true" })', 'toolName(plugin_0)'),
      ["${plugin_0.title}`;", "${toolName(plugin_0)}`;"],
      ["const Sidebar = ", 'const toolName = ({ title }) => title.replace("Documentation Explorer", "Docs");\nconst Sidebar = '],
      ["children: t17 })", 'children: [t17, jsx("span", { className: "oq-tool", "aria-hidden": true, children: "Schema" })] })'],
      named('/* @__PURE__ */ jsx(KeyboardShortcutIcon, { "aria-hidden": "true" })', '"Keys"'),
      named('/* @__PURE__ */ jsx(SettingsIcon, { "aria-hidden": "true" })', '"Settings"'),
    ]);
    const region = 'tabIndex: visiblePlugin ? 0 : undefined, role: "region", "aria-label": visiblePlugin ? `${visiblePlugin.title} panel` : "Panel"';
    // What is to be known of a response is read before it.
    change(/\/graphiql\/dist\/GraphiQL\.js$/, [
      ["      t47,\n      t48,\n      footer\n", "      footer,\n      t47,\n      t48\n"],
      // A long panel is scrolled with the keyboard.
      ['className: "graphiql-plugin", style', `className: "graphiql-plugin", ${region}, style`],
      ['jsx(Tab.Button, { "aria-controls"', 'jsx(Tab.Button, { "aria-current": index_1 === activeTabIndex, "aria-controls"'],
    ]);
    change(/plugin-doc-explorer\/dist\/components\/search\.js$/, [
      ["placeholder: t12", 'placeholder: "Search, " + t12'],
      // What is around the results stays readable for screen readers.
      ["jsxs(ComboboxOptions, {", "jsxs(ComboboxOptions, { modal: false,"],
    ]);
    change(/@graphiql\/react\/dist\/utility\/tabs\.js$/, [
      ["operationName || DEFAULT_TITLE", "operationName || firstField(query)"],
      [": void 0) || DEFAULT_TITLE", ": void 0) || firstField(newTab.query)"],
      ['var DEFAULT_TITLE = "<untitled>";', FIRST_FIELD],
    ]);
  },
};

const common = {
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  absWorkingDir: root,
  target: "es2022",
  format: "esm",
  jsx: "automatic",
  charset: "utf8",
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [smallerFormatter, smallerStyles, accessibleTabs, toolNames],
};

const assets = [];
const inputs = new Set();

const hashOf = (content) => createHash("sha256").update(content).digest("hex").slice(0, 12);

/** Adds a file, and returns its name with the hash in it. */
function add(name, content) {
  const hash = hashOf(content);
  const extension = extname(name);
  const hashed = `${name.slice(0, -extension.length)}-${hash}${extension}`;
  assets.push({ name, hashed, media: MEDIA_TYPES[extension], content: Buffer.from(content) });
  return hashed;
}

async function run(options) {
  const result = await esbuild.build({ ...common, ...options, outdir: "out" });
  Object.keys(result.metafile.inputs).forEach((input) => inputs.add(input));
  return result.outputFiles;
}

/** The licences of the packages whose code is in the bundle. */
function licences() {
  const packages = new Set();
  for (const input of inputs) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
  const texts = [...packages].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

const workers = {};
for (const [label, entry] of Object.entries({
  editor: "monaco-editor/esm/vs/editor/editor.worker.js",
  json: "monaco-editor/esm/vs/language/json/json.worker.js",
  graphql: "monaco-graphql/esm/graphql.worker.js",
})) {
  const [output] = await run({ entryPoints: [entry] });
  workers[label] = add(`${label}.worker.js`, output.contents);
}

const outputs = await run({
  entryPoints: { app: "web/main.tsx" },
  define: { ...common.define, WORKERS: JSON.stringify(workers) },
});
const output = (extension) => outputs.find((file) => extname(file.path) === extension).contents;
const names = {
  style: add("app.css", output(".css")),
  script: add("app.js", output(".js")),
  licences: add("licences.txt", licences()),
};

const page = readFileSync(join(root, "web/index.html"), "utf8").replace(/\{(\w+)\}/g, (_, key) => ASSETS + names[key]);

function rust() {
  const rows = assets.map(
    ({ name, hashed, media }) =>
      `    Asset::new("${hashed}", "${media}", include_bytes!("bundle/${name}.br")),\n`,
  );
  return `//! The files of the console. Made by \`build.mjs\`; do not edit.

use crate::api::console::asset::Asset;

/// The page.
pub(super) const PAGE: &str = include_str!("bundle/index.html");

/// Its entity tag.
pub(super) const PAGE_TAG: &str = "\\"${hashOf(page)}\\"";

/// The files that the page loads.
#[rustfmt::skip]
pub(super) static ASSETS: [Asset; ${assets.length}] = [
${rows.join("")}];
`;
}

const compressed = assets.map(({ name, content }) => [join(bundle, `${name}.br`), content]);
compressed.push([axe, readFileSync(join(root, "node_modules/axe-core/axe.min.js"))]);
const plain = [
  [join(bundle, "index.html"), page],
  [join(root, "assets.rs"), rust()],
];

if (process.argv.includes("--check")) {
  const differs = ([path, content], read) => !existsSync(path) || !read(readFileSync(path)).equals(Buffer.from(content));
  const stale = [
    ...compressed.filter((file) => differs(file, brotliDecompressSync)),
    ...plain.filter((file) => differs(file, (bytes) => bytes)),
  ];
  if (stale.length > 0) {
    console.error(`not what the sources make: ${stale.map(([path]) => path).join(", ")}\nrun ./dev console`);
    process.exit(1);
  }
  console.log("the console's bundle is what its sources make");
} else {
  rmSync(bundle, { recursive: true, force: true });
  let bytes = 0;
  for (const [path, content] of compressed) {
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
    const packed = brotliCompressSync(content, { params: { ...quality, [constants.BROTLI_PARAM_SIZE_HINT]: content.length } });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, packed);
    if (path === axe) continue;
    bytes += packed.length;
    console.log(`${String(packed.length).padStart(9)}  ${path.slice(bundle.length + 1)}`);
  }
  for (const [path, content] of plain) writeFileSync(path, content);
  console.log(`${String(bytes).padStart(9)}  in all`);
}
