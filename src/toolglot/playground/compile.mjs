// Compiles the Python of a static folder: node compile.mjs FOLDER. The Python that does it is the folder's own.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/pyodide` });
python.FS.mkdirTree("/site");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/site");
python.runPython(`
import sys
from pathlib import Path
sys.path.insert(0, "/site/toolglot.zip")
from toolglot.playground.bytecode import compile_archive

compile_archive(Path("/site/toolglot.zip"), imported=False)
compile_archive(Path("/site/pyodide/python_stdlib.zip"), imported=True)
`);
