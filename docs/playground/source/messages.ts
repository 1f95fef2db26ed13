/** Messages: what the page asks the worker, and what the worker says. */

/** The fields of the form, by name, as they were typed. */
export type Form = Record<string, string>;

export interface Asked {
  number: number;
  form: Form;
}

/** What `tilesim.player.playground.answer` returns. */
export interface Answer {
  errors?: Form;
  command?: string;
  plans?: Plan[];
  names?: string[];
  /** Each figure by its name, of each run. */
  figures?: Record<string, string[]>;
  page?: string;
}

export interface Plan {
  name: string;
  sentence: string;
  /** Thread block, and its tiles. */
  rows: [string, string][];
}

export type Said = { kind: "failed"; sentence: string } | ({ kind: "answer"; number: number } & Answer);
