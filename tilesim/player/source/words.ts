/** Words: what the player says, in English unless the page brings a translation of it. */

let translations: Record<string, string> = {};

/** Say what is in the table instead of its English from now on. */
export function speak(table: Record<string, string>): void {
  translations = table;
}

/** A sentence in the page's language, with its fields filled in. */
export function tr(sentence: string, fields: Record<string, string | number> = {}): string {
  return (translations[sentence] ?? sentence).replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
}
