/** Worker: Python and tilesim off the page's thread; they answer one form after another. */

import type { Asked, Said } from "./messages";

/** What is used of Pyodide, https://pyodide.org/en/stable/usage/api/js-api.html. */
interface Python {
  unpackArchive(archive: ArrayBuffer, format: string): void;
  runPython(code: string): (form: string) => string;
}

const PROGRAM = `
import json
from tilesim.player import playground
lambda form: json.dumps(playground.answer(json.loads(form)))
`;

const say = (said: Said) => postMessage(said);
const beside = (path: string) => new URL(path, self.location.href).href;

async function begin(): Promise<(form: string) => string> {
  const archive = fetch(beside("tilesim.zip")).then((answer) => answer.arrayBuffer());
  const { loadPyodide } = await import(beside("pyodide/pyodide.mjs"));
  const python: Python = await loadPyodide({ indexURL: beside("pyodide/"), packages: ["numpy"] });
  python.unpackArchive(await archive, "zip");
  return python.runPython(PROGRAM);
}

const begun = begin();
begun.catch((error) => say({ kind: "failed", sentence: String(error) }));

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
  const answer = await begun.catch(() => null);
  if (!answer) return;
  try {
    say({ kind: "answer", number: data.number, ...JSON.parse(answer(JSON.stringify(data.form))) });
  } catch (error) {
    // The last line of a Python traceback says what it is.
    const lines = String(error).trim().split("\n");
    say({ kind: "answer", number: data.number, errors: { schedules: lines[lines.length - 1] } });
  }
});
