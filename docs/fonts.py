"""Make the fonts of scenes/look/fonts from Inter and JetBrains Mono, with fontTools and Brotli.

    npm install --prefix fonts inter-ui@4.1.1 jetbrains-mono@1.0.6 @expo-google-fonts/jetbrains-mono@0.4.1
    pip install fonttools brotli
    python docs/fonts.py fonts/node_modules

They hold the letters of films, digits that are equally wide, and names of their own, so that an Inter that is
installed on some machine does not take their place.
"""

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FONTS = Path(__file__).parents[1] / "scenes" / "look" / "fonts"
INTER, JETBRAINS = "inter-ui", "jetbrains-mono"
FACES = {
    ("Sans", "Regular"): f"{INTER}/web/Inter-Regular.woff2",
    ("Sans", "Bold"): f"{INTER}/web/Inter-Bold.woff2",
    # "NL" has no ligatures: "->" stays two letters.
    ("Mono", "Regular"): f"{JETBRAINS}/fonts/webfonts/JetBrainsMonoNL-Regular.woff2",
    ("Mono", "Bold"): f"{JETBRAINS}/fonts/webfonts/JetBrainsMonoNL-Bold.woff2",
}
LICENSES = {
    "Inter": f"{INTER}/LICENSE.txt",
    # The license in jetbrains-mono is that of the package, not of the font.
    "JetBrainsMono": "@expo-google-fonts/jetbrains-mono/LICENSE_FONT",
}
LETTERS = (
    *range(0x20, 0x250),  # Latin
    *range(0x2B0, 0x400),  # accents, Greek
    *range(0x1E00, 0x1F00),  # more Latin
    *range(0x2000, 0x2C00),  # punctuation, super- and subscripts, arrows, mathematics, shapes
    0xFFFD,
)
FEATURES = ["kern", "mark", "mkmk", "ccmp"]
NAMES = {1: "family", 2: "style", 3: "family style", 4: "family style", 6: "family-style"}
"""Entries of the table `name` that are replaced. Copyright, version and license stay."""


def main(sources: Path) -> None:
    FONTS.mkdir(exist_ok=True)
    for name, source in LICENSES.items():
        (FONTS / f"{name}-OFL.txt").write_text((sources / source).read_text("utf-8"), "utf-8")
    for (family, style), source in FACES.items():
        font = TTFont(sources / source, recalcTimestamp=False)
        font.flavor = None
        with_equal_digits(font)
        options = Options(layout_features=FEATURES, hinting=False, notdef_outline=True, name_IDs=["*"])
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=LETTERS)
        subsetter.subset(font)
        rename(font, f"Tilesim {family}", style)
        font.save(FONTS / f"Tilesim{family}-{style}.ttf")


def with_equal_digits(font: TTFont) -> None:
    """Let digits be those that the feature `tnum` sets, where there is one."""
    if "GSUB" not in font:
        return
    table = font["GSUB"].table
    numbers = {
        number
        for record in table.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for number in record.Feature.LookupListIndex
    }
    for number in numbers:
        for step in table.LookupList.Lookup[number].SubTable:
            mapping = getattr(step, "ExtSubTable", step).mapping
            for letters in font["cmap"].tables:
                for digit in map(ord, "0123456789"):
                    if digit in letters.cmap:
                        letters.cmap[digit] = mapping.get(letters.cmap[digit], letters.cmap[digit])


def rename(font: TTFont, family: str, style: str) -> None:
    names = font["name"]
    for number in (16, 17, 21, 22):  # Families of more than four styles.
        names.removeNames(nameID=number)
    for number, parts in NAMES.items():
        joined = parts.replace("family", family).replace("style", style)
        names.setName(joined.replace(" ", "") if number == 6 else joined, number, 3, 1, 0x409)
        names.removeNames(nameID=number, platformID=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
