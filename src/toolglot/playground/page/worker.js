// Python in the page, beside its thread, so that the page never waits. Everything comes from this folder.

const here = new URL(".", import.meta.url);

async function start() {
  const archive = fetch(new URL("toolglot.zip", here));
  archive.catch(() => {}); // it is awaited below, after what takes longer
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", here));
  const python = await loadPyodide({ indexURL: new URL("pyodide/", here).href });
  const response = await archive;
  if (!response.ok) throw new Error(`toolglot.zip: ${response.status}`);
  python.unpackArchive(await response.arrayBuffer(), "zip", { extractDir: "/lib/toolglot" });
  python.runPython("import sys; sys.path.insert(0, '/lib/toolglot')");
  return python.pyimport("toolglot.playground.api").answer;
}

const started = start();
started.catch(() => {}); // every request says it

self.onmessage = async ({ data: { number, request } }) => {
  try {
    const answer = await started;
    self.postMessage({ number, answer: answer(request) });
  } catch (error) {
    self.postMessage({ number, failed: String(error.message || error).trim().split("\n").at(-1).slice(0, 500) });
  }
};
