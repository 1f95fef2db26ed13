/** Form: its fields as text, in the page's address too, and the sentence beside one that is wrong. */

import type { Form } from "./messages";

const form = document.querySelector("form")!;
const fields = () => [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[name]")];
const defaults = read();

export function read(): Form {
  return Object.fromEntries(fields().map((field) => [field.name, field.value]));
}

/** What differs from the defaults, as it stands behind the # of an address. */
export function address(): string {
  const changed = Object.entries(read()).filter(([name, value]) => value !== defaults[name]);
  return new URLSearchParams(changed).toString();
}

/** Fill the fields from what stands behind the #; what is not there is as by default. */
export function fill(hash: string): void {
  const given = new URLSearchParams(hash);
  for (const field of fields()) {
    const value = given.get(field.name) ?? defaults[field.name];
    field.value = value;
    // A choice that is not offered is kept, so that what is wrong with it is said.
    if (field instanceof HTMLSelectElement && field.value !== value) {
      field.append(new Option(value, value));
      field.value = value;
    }
  }
  pressed();
}

/** Say what is wrong beside each field, and nothing beside the others. */
export function complain(errors: Form): void {
  for (const field of fields()) {
    const sentence = errors[field.name] ?? "";
    document.getElementById(`${field.name}-error`)!.textContent = sentence;
    if (sentence) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

/** Call `changed` whenever a field is; a button of a schedule puts it into the list, or takes it out. */
export function listen(changed: () => void): void {
  const schedules = form.querySelector<HTMLInputElement>("[name=schedules]")!;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    pressed();
    changed();
  });
  for (const button of form.querySelectorAll<HTMLButtonElement>("[data-schedule]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.schedule!;
      const kept = names(schedules).filter((other) => !same(other, name));
      schedules.value = (kept.length < names(schedules).length ? kept : [...kept, name]).join(" ");
      pressed();
      changed();
    });
  }
}

const names = (field: HTMLInputElement) => field.value.split(/\s+/).filter(Boolean);
const same = (one: string, other: string) => one.split(":")[0] === other.split(":")[0];

function pressed(): void {
  const chosen = names(form.querySelector<HTMLInputElement>("[name=schedules]")!);
  for (const button of form.querySelectorAll<HTMLButtonElement>("[data-schedule]")) {
    const on = chosen.some((name) => same(name, button.dataset.schedule!));
    button.setAttribute("aria-pressed", String(on));
  }
}
