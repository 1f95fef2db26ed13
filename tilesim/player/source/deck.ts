/*! With reveal.js, https://revealjs.com: MIT licensed, Copyright (C) 2011-2026 Hakim El Hattab */
/** Deck: the slides of a talk. Each is a film that plays once and stops, or loops; S opens the speaker's view. */

import Reveal from "reveal.js";
import Notes from "reveal.js/plugin/notes";

/** What `tilesim.player.deck` writes: pixels of a slide, and its MP4 in base64. */
interface Given {
  size: [number, number];
  films: string[];
}

function start(): void {
  const { size, films }: Given = JSON.parse(document.getElementById("data")!.textContent!);
  document.querySelectorAll("video").forEach((video, number) => {
    video.src = address(films[number]);
  });
  Reveal.initialize({
    width: size[0],
    height: size[1],
    margin: 0,
    minScale: 0.02,
    maxScale: 8,
    center: false,
    hash: true,
    transition: "none",
    backgroundTransition: "none",
    // Slides are swiped on a phone too, not scrolled.
    scrollActivationWidth: 0,
    // An upright phone has room for them, and its slides are small; the speaker's view shows them itself.
    showNotes: isUpright() && !location.search.includes("receiver"),
    plugins: [Notes],
  });
}

const isUpright = () => matchMedia("(max-width: 720px) and (orientation: portrait)").matches;

/** Where a film of the page is found: not every browser plays one from a data address. */
function address(film: string): string {
  const bytes = Uint8Array.from(atob(film), (letter) => letter.charCodeAt(0));
  return URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
}

start();
