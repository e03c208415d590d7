# SPDX-License-Identifier: GPL-2.0
"""Pictures as SVG: what report.py and plot.py have in common."""

import html
import math
import xml.dom

# What makes a file an SVG: a name, that nobody looks up.
SVG = xml.dom.XHTML_NAMESPACE.replace("1999/xhtml", "2000/svg")
WIDTH, HEIGHT, LEFT, BOTTOM = 900, 300, 70, 40
COLOURS = ["#33658a", "#86bbd8", "#758e4f", "#f6ae2d", "#f26419"]


def svg(height, *parts):
    return ('<svg viewBox="0 0 %d %d" role="img">%s</svg>'
            % (WIDTH, height, "".join(parts)))


def label(x, y, text, anchor="start", kind=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>' % (
        x, y, anchor, kind, html.escape(str(text)))


def box(x, y, width, height, colour, title):
    return '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>' % (
        x, y, width, height, colour, html.escape(title))


def round_up(n):
    """The next number that an axis may end with."""
    step = 10 ** (len(str(int(max(n, 1)))) - 1)
    return next(step * m for m in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * m >= n)


def histogram(bins):
    if not any(n for _, n in bins):
        return "<p>There was no stop.</p>"
    first, last = bins[0][0], bins[-1][0]
    count = dict(bins)
    classes = [us for us in (1 << i for i in range(40)) if first <= us <= last]
    most = max(count.values())
    step = min((WIDTH - LEFT - 20) / len(classes), 120)
    base = HEIGHT - BOTTOM
    parts = []
    for i, us in enumerate(classes):
        n = count.get(us, 0)
        high = (base - 30) * n / most
        x = LEFT + step * i
        parts.append(box(x + 3, base - high, step - 6, high, COLOURS[0],
                         "%d stops of less than %d microseconds" % (n, us)))
        parts.append(label(x + step / 2, base - high - 6, n or "", "middle"))
        parts.append(label(x + step / 2, base + 18, "< " + time_text(us), "middle"))
    parts.append('<path d="M%d %dH%d" class="axis"/>' % (LEFT, base, LEFT + step * len(classes)))
    return svg(HEIGHT, *parts)


def time_text(us):
    return "%d us" % us if us < 1000 else "%d ms" % round(us / 1000)


def decades(least, most):
    """The powers of ten that both lie between."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return [10.0 ** i for i in range(first, max(last, first + 1) + 1)]


def log_lines(series, x_what, y_text):
    """Lines over two logarithmic axes.

    series: [(name, colour, whole line?, [(x, y)])]; x_what: below the picture; y_text(y): as
    the axis says it.
    """
    points = [point for *_, line in series for point in line]
    marks_x = sorted({x for x, _ in points})
    marks_y = decades(min(y for _, y in points), max(y for _, y in points))
    left, right, top, base = LEFT + 10, WIDTH - 20, 20 + 22 * ((len(series) + 1) // 2), HEIGHT + 20

    def at(x, y):
        part_x = math.log(x / marks_x[0]) / (math.log(marks_x[-1] / marks_x[0]) or 1)
        part_y = math.log(y / marks_y[0]) / math.log(marks_y[-1] / marks_y[0])
        return left + 10 + (right - left - 20) * part_x, base - (base - top) * part_y

    parts = ['<path d="M%d %dV%dH%d" class="axis"/>' % (left, top, base, right)]
    for y in marks_y:
        line = at(marks_x[0], y)[1]
        parts.append('<path d="M%d %.1fH%d" class="grid"/>' % (left, line, right))
        parts.append(label(left - 8, line + 4, y_text(y), "end"))
    for x in marks_x:
        parts.append(label(at(x, marks_y[0])[0], base + 18, "{:,}".format(x), "middle"))
    parts.append(label((left + right) / 2, base + 38, x_what, "middle"))
    for i, (name, colour, whole, line) in enumerate(series):
        dash = "" if whole else ' stroke-dasharray="6 4"'
        path = " ".join("%.1f,%.1f" % at(x, y) for x, y in line)
        parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>'
                     % (path, colour, dash))
        for x, y in line:
            parts.append('<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s</title></circle>'
                         % (*at(x, y), colour, html.escape("%s, %s: %s" % (name, "{:,}".format(x),
                                                                          y_text(y)))))
        x, y = left + 20 + 420 * (i % 2), 16 + 22 * (i // 2)
        parts.append('<path d="M%d %dh28" stroke="%s" stroke-width="2"%s/>' % (x, y - 4, colour, dash))
        parts.append(label(x + 36, y, name))
    return svg(base + 50, *parts)


def alone(picture):
    """A picture as a file of its own, for any background."""
    return picture.replace(
        "<svg ", '<svg xmlns="%s" ' % SVG, 1).replace(
        ">", "><style>svg { font: 13px sans-serif; background: #fff } .axis { stroke: #888; "
        "fill: none } .grid { stroke: #ddd }</style>", 1) + "\n"
