// Films are loaded and played while they are in view; where motion is to be reduced, a reader starts them.
document.addEventListener("DOMContentLoaded", () => {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && !target.src) target.src = target.dataset.src;
      if (!isIntersecting) target.pause();
      else if (!still) target.play().catch(() => {});
    }
  }, { threshold: 0.4 });
  for (const film of document.querySelectorAll(".film video")) {
    film.parentElement.classList.add("plays");
    seen.observe(film);
  }
});
