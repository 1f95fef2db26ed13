// Formulas: a form computes its results anew whenever a number in it changes.
document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form.formula")) {
    const given = [...form.querySelectorAll("input")];
    const results = [...form.querySelectorAll("output")];
    // Both names and expressions are from the page's own source, and a result may use those above it.
    const lines = results.map(({ name, dataset }) => `const ${name} = ${dataset.expression};`);
    const names = results.map(({ name }) => name);
    const compute = new Function(...given.map(({ name }) => name), `${lines.join("")} return [${names}];`);
    const draw = () => {
      const values = form.checkValidity() ? compute(...given.map((input) => input.valueAsNumber)) : [];
      results.forEach((output, at) => {
        const shown = Number.isFinite(values[at]);
        output.value = shown ? values[at].toLocaleString("en", { maximumSignificantDigits: 4 }) : "–";
      });
    };
    form.addEventListener("input", draw);
    form.addEventListener("submit", (event) => event.preventDefault());
    draw();
  }
});
