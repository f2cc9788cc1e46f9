"""Draws the plots of ../block-shapes.md.

python3 plot.py rate.svg POINTS < predictions.csv   updates per second of all shapes, the best first; POINTS updates in a launch
python3 plot.py loads.svg < simulated.csv           DRAM loads predicted over simulated

The first takes what `warpline predict ... --format csv` writes, the second rows of kernel, model, block, simulated and predicted MB.
"""

import csv
import math
import sys

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 660, 380, 62, 150, 16, 46


class Axis:
    """A logarithmic axis, or one of whole numbers, from values to pixels."""

    def __init__(self, low, high, start, end, logarithmic):
        self.scale = math.log10 if logarithmic else float
        self.low, self.high, self.start, self.end = self.scale(low), self.scale(high), start, end
        step = 10 ** math.floor(math.log10(high - low)) if not logarithmic else 0
        powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1) if logarithmic else []
        ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        if not logarithmic:
            step = step if (high - low) / step > 2 else step / 4
            ticks = [low + step * number for number in range(int((high - low) / step) + 1)]
        self.ticks = [tick for tick in ticks if low <= tick <= high]

    def at(self, value):
        share = (self.scale(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def frame(across, up, labels):
    """The axes with their ticks and names."""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tick in across.ticks:
        x = across.at(tick)
        out.append(f'<path d="M{x} {TOP}V{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in up.ticks:
        y = up.at(tick)
        out.append(f'<path d="M{LEFT} {y}H{right}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
    middle = (TOP + bottom) / 2
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{labels[0]}</text>')
    out.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{labels[1]}</text>')
    return out


def legend(out, names):
    for number, name in enumerate(names):
        y = TOP + 14 + 18 * number
        out.append(f'<circle cx="{WIDTH - RIGHT + 14}" cy="{y - 4}" r="4" fill="{COLOURS[number % len(COLOURS)]}"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 24}" y="{y}">{name}</text>')


def rate(rows, points):
    models = list(dict.fromkeys(row["model"] for row in rows))
    of = {model: sorted((points / float(row["seconds"]) / 1e9 for row in rows if row["model"] == model), reverse=True) for model in models}
    every = [value for values in of.values() for value in values]
    longest = max(len(values) for values in of.values())
    across = Axis(0, longest, LEFT, WIDTH - RIGHT, False)
    up = Axis(min(every), max(every) * 1.05, HEIGHT - BOTTOM, TOP, True)
    out = frame(across, up, ("block shapes, the best first", "10⁹ updates per second at most"))
    for number, model in enumerate(models):
        line = " ".join(f"{across.at(place)},{up.at(value)}" for place, value in enumerate(of[model]))
        out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>')
    legend(out, [model.upper() for model in models])
    return out


def loads(rows):
    names = list(dict.fromkeys((row["kernel"], row["model"]) for row in rows))
    every = [float(row[of]) for row in rows for of in ("simulated", "predicted")]
    low, high = min(every) * 0.9, max(every) * 1.1
    across = Axis(low, high, LEFT, WIDTH - RIGHT, True)
    up = Axis(low, high, HEIGHT - BOTTOM, TOP, True)
    out = frame(across, up, ("simulated DRAM loads, MB", "predicted, MB"))
    out.append(f'<path d="M{across.at(low)} {up.at(low)}L{across.at(high)} {up.at(high)}" stroke="#888"/>')
    for row in rows:
        colour = COLOURS[names.index((row["kernel"], row["model"])) % len(COLOURS)]
        x, y = across.at(float(row["simulated"])), up.at(float(row["predicted"]))
        out.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}" fill-opacity="0.7"/>')
    legend(out, [f"{kernel}, {model.upper()}" for kernel, model in names])
    return out


def main():
    rows = list(csv.DictReader(sys.stdin))
    out = rate(rows, float(sys.argv[2])) if len(sys.argv) > 2 else loads(rows)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join([*out, "</svg>"]) + "\n")


main()
