/** The playground: a form whose fields stand in the address, and what tilesim answers, by a worker. */

import { address, complain, fill, listen, read } from "./form";
import type { Said } from "./messages";
import { copyButton, followHeight, isEmpty, show } from "./shown";

/** Milliseconds without a key, after which a field counts as typed. */
const PAUSE = 250;

const status = document.getElementById("status")!;
let worker: Worker;
let asked = 0;
let busy = false;
let waits = false;
let due = 0;

function ask(): void {
  history.replaceState(null, "", address() ? `#${address()}` : location.pathname);
  if (busy) {
    waits = true;
    return;
  }
  busy = true;
  worker.postMessage({ number: ++asked, form: read() });
}

function hear({ data }: MessageEvent<Said>): void {
  if (data.kind === "failed") {
    fail(data.sentence);
  } else {
    busy = false;
    complain(data.errors ?? {});
    if (!data.errors) show(data);
    status.textContent = data.errors && isEmpty() ? "A field is not right; the form says which." : "";
    document.body.dataset.answered = String(data.number);
    if (waits) {
      waits = false;
      ask();
    }
  }
}

function fail(reason: string): void {
  status.textContent =
    location.protocol === "file:"
      ? "A browser runs Python only in pages that a server gives it: python -m http.server -d .cache/docs"
      : "Python could not be loaded. Where these pages were built without it, `make playground` before " +
        `\`make docs\` adds it. (${reason})`;
}

followHeight();
copyButton();
listen(() => {
  clearTimeout(due);
  due = window.setTimeout(ask, PAUSE);
});
fill(location.hash.slice(1));
addEventListener("hashchange", () => {
  fill(location.hash.slice(1));
  ask();
});
try {
  worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  worker.addEventListener("message", hear);
  worker.addEventListener("error", () => fail("the worker does not start"));
  ask();
} catch (error) {
  fail(String(error));
}
