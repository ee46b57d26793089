// Copies the programs of a version of PostgreSQL to a folder, where every user may read them, and prints the path of its programs:
// node copy.mjs VERSION FOLDER. A package has a list of symbolic links in their place.
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [version, folder] = process.argv.slice(2);
const packages = join(dirname(fileURLToPath(import.meta.url)), "node_modules");
cpSync(join(packages, `postgresql-${version}`, "native"), folder, { recursive: true });
for (const { source, target } of JSON.parse(readFileSync(join(folder, "pg-symlinks.json"), "utf8"))) {
  symlinkSync(basename(source), join(folder, target.replace(/^native\//, "")));
}
console.log(join(folder, "bin"));
