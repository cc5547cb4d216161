// Who answers: Python in this page (a worker with Pyodide), or the Python that serves the page.
// Both have `ask(request)`, a promise of the answer, and both give the same answers: the same module runs in them.

const PATIENCE = 30000; // milliseconds; time is linear in the input, so this is a machine that stands still

export function connect() {
  return document.documentElement.dataset.backend === "pyodide" ? new InPage() : new Local();
}

class Local {
  place = "on this machine";

  async ask(request) {
    let response;
    try {
      response = await fetch("api", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(PATIENCE),
      });
    } catch {
      throw new Error("toolglot playground does not answer: is it still running?");
    }
    if (!response.ok) throw new Error(`toolglot playground refused the request: ${await response.text()}`);
    return response.json();
  }
}

class InPage {
  place = "in this page";
  #waiting = new Map();
  #number = 0;
  #worker = null;

  #start() {
    this.#worker = new Worker("worker.js", { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      const asked = this.#waiting.get(data.number);
      if (!asked) return;
      this.#waiting.delete(data.number);
      clearTimeout(asked.timer);
      if (data.failed) asked.reject(new Error(data.failed));
      else asked.resolve(JSON.parse(data.answer));
    };
    this.#worker.onerror = () => this.#end("Python could not be loaded into this page");
  }

  /** Give up on everything that waits; the next request starts Python anew. */
  #end(why) {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(why));
    }
    this.#waiting.clear();
  }

  ask(request) {
    if (!this.#worker) this.#start();
    const number = this.#number++;
    return new Promise((resolve, reject) => {
      // The first request waits for the download as well, which may take any time.
      const timer = number === 0 ? 0 : setTimeout(() => this.#end("Python took too long and was started anew"), PATIENCE);
      this.#waiting.set(number, { resolve, reject, timer });
      this.#worker.postMessage({ number, request: JSON.stringify(request) });
    });
  }
}
