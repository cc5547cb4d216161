// The golden cases of every format, read by the package in Pyodide under Node.
// node golden.mjs PYODIDE SOURCE CASES: the folder of npm's package, src/, tests/formats/. Prints one line of JSON.

import { pathToFileURL } from "node:url";

const [pyodide, source, cases] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: pyodide, stdout: () => {} });
for (const [place, folder] of Object.entries({ "/source": source, "/cases": cases })) {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, place);
}
console.log(
  python.runPython(`
import json, sys, time, warnings
warnings.simplefilter("error")
sys.path.insert(0, "/source")
from pathlib import Path
from toolglot import golden

began = time.perf_counter()
counts = {name: 0 for name in golden.CHECKS}
wrong = []
cases = golden.load(Path("/cases"))
for case in cases:
    for check, said in golden.check(case).items():
        counts[check] += said is not None
        if said:
            wrong.append([str(case), check, said])
json.dumps({
    "python": sys.version.split()[0], "platform": sys.platform, "formats": len(golden.folders(Path("/cases"))),
    "cases": len(cases), "checks": counts, "wrong": wrong, "seconds": round(time.perf_counter() - began, 1),
})
`),
);
