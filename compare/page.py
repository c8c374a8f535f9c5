# SPDX-License-Identifier: Apache-2.0
"""Reads compare/entries.tsv, and writes docs/comparison.md from what compare/run found."""

ORDER = ("pinfold", "pinfold-landlock", "bubblewrap", "sandbox-runtime", "codex", "landlock-run", "landstrip")
COLUMNS = ("number", "claim", "wanted", "control", "flags", "title", "inside", "during", "proof")

HEAD = """# Other sandboxes, by the same measure

What becomes of {no} ways out of the [catalogue](catalogue.md) and of {yes} things that have to work, tried once each.
`make compare` fetches the others (compare/packages has their versions) and writes this page; the texts about a sandbox
come from its file in compare/adapters. We made one of them, so read how it is judged, and correct an adapter where its
sandbox can do better. The attempts come from our own catalogue, which pinfold was built against: that it holds most of them
is what to expect.

How it is judged:

- Each attempt is one command, as a plain user, in a fresh scene: a home with made-up keys, a git project in it, services and
  a process outside. It is tried without a sandbox as well: what does not succeed there is not judged ("—").
- What counts is what happened to the host (the file changed, the service was reached), not what the command was told. A
  protected file that is put back after the run counts as held.
- Each sandbox has the best settings that its documentation gives for three wishes: **writes in the project only, credentials
  hidden, network offline**. The settings, and where they are documented, stand in the first table; compare/adapters has them
  word by word.
- They are different things for different ends. bubblewrap is a kit, landlock-run confines files and says so, the sandboxes
  of codex and sandbox-runtime work together with an agent that asks. So what a sandbox does not promise is marked *open*,
  which is no fault of it; **through** is what its documentation, as we read it, says it stops.
- One kernel, one machine, one version each. What is started without an agent may be stronger with it (its rules, its questions).
  All of them start without the internet; only fetching them needs it.

| word | means |
| --- | --- |
| held | it did not get through |
| **through** | it got through, and the sandbox promises that it does not |
| open | it got through, and the sandbox does not promise anything about it |
| works, **fails** | of what has to work |
| no | does not work, as documented, or as these settings ask |
| — | not judged on this machine |
| ? | the sandbox did not run the command |
"""


def read_entries(path):
    """By their line, in order; each with the section that it stands in."""
    entries, section = {}, ""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("# ---- "):
                section = line.strip("#- ")
            elif line and not line.startswith("#"):
                entry = dict(zip(COLUMNS, line.split("\t"), strict=True))
                entries[str(number)] = entry | {"section": section}
    return entries


def cell(entry, result, control, about):
    if entry["control"] == "yes" and not control:
        return "—"
    if result is None:
        return "?"
    if entry["wanted"] == "yes":
        return "works" if result else "no" if entry["claim"] in about["declines"].split() else "**fails**"
    if not result:
        return "held"
    return "**through**" if entry["claim"] in about["claims"].split() else "open"


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def tables(found, tools, counts):
    text, section = "", None
    for number, entry in found["entries"].items():
        if entry["section"] != section:
            section = entry["section"]
            text += f"\n## {section[0].upper()}{section[1:]}\n\n"
            text += row(["entry", "attempt", *(found["about"][tool]["title"] for tool in tools)])
            text += row(["---"] * (2 + len(tools)))
        control = found["results"]["none"][number]
        cells = [cell(entry, found["results"][tool][number], control, found["about"][tool]) for tool in tools]
        for tool, word in zip(tools, cells):
            counts[tool][word] = counts[tool].get(word, 0) + 1
        text += row([entry["number"], entry["title"], *cells])
    return text


def write(found):
    tools = [tool for tool in found["results"] if tool != "none"]
    absent = [tool for tool in found["about"] if tool not in found["results"]]
    counts = {tool: {} for tool in tools}
    body = tables(found, tools, counts)
    wanted = [entry["wanted"] for entry in found["entries"].values()]
    text = HEAD.format(no=wanted.count("no"), yes=wanted.count("yes"))
    text += "\n## The sandboxes\n\n" + row(["sandbox", "version", "settings", "documented in", "what it says of itself"])
    text += row(["---"] * 5)
    for tool in tools:
        about = found["about"][tool]
        text += row([about[name] for name in ("title", "version", "settings", "documented", "says")])
    for tool in absent:
        text += f"\n{found['about'][tool]['title']} could not be started here.\n"
    text += f"\nThe kernel: {found['about']['none']['version']}.\n\n## In short\n\n"
    words = ("held", "**through**", "open", "works", "**fails**", "no", "—", "?")
    text += row(["sandbox", *words]) + row(["---"] + ["---:"] * len(words))
    for tool in tools:
        text += row([found["about"][tool]["title"], *(str(counts[tool].get(word, 0)) for word in words)])
    return text + body
