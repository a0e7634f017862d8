"""Draws a session of the shell as an SVG: runs `larder` at a pseudo-terminal, and turns its coloured output into a picture.

Usage: pictures.py LARDER STORE OUTPUT COMMAND...
       pictures.py LARDER STORE OUTPUT --browse KEYS      the full-screen view after these keys
"""

import fcntl
import html
import os
import pty
import re
import select
import struct
import sys
import termios

COLUMNS, SIZE, LINE, WIDE = 92, 14, 20, 8.43
# Viewers of SVG collapse plain spaces, so the text has no-break spaces.
NO_BREAK = "\u00a0"
PALETTE = {30: "#45475a", 31: "#f38ba8", 32: "#a6e3a1", 33: "#f9e2af", 34: "#89b4fa", 35: "#cba6f7", 36: "#94e2d5",
           37: "#cdd6f4", 90: "#7f849c", 91: "#f38ba8", 92: "#a6e3a1", 93: "#f9e2af", 94: "#89b4fa", 95: "#cba6f7",
           96: "#94e2d5", 97: "#ffffff"}


def start(program, words, columns, rows):
    """Starts the program at a pseudo-terminal. Returns the process, a function to write, and a function to read all output."""
    child, terminal = pty.fork()
    if child == 0:
        # Gives the parent time to set the size of the window.
        select.select([], [], [], 0.3)
        environment = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8", TZ="UTC", PAGER="cat", LARDER_HISTORY="off")
        os.execve(program, [program] + words, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read():
        output = b""
        while select.select([terminal], [], [], 1)[0]:
            try:
                output += os.read(terminal, 65536)
            except OSError:
                break
        return output.decode()

    return child, lambda text: os.write(terminal, text.encode()), read


def browsed(program, store, keys, columns=80, rows=16):
    """The rows of the full-screen view after `keys`. The view moves the cursor to the place of each text."""
    child, write, read = start(program, [store, "browse", "@*"], columns, rows)
    output = read()
    for key in keys:
        write(key)
        output += read()
    grid = [[(" ", "")] * columns for _ in range(rows)]
    row, column, style = 0, 0, ""
    for text, numbers, end in re.findall(r"([^\x1b]+)|\x1b\[([0-9;?]*)([A-Za-z])", output):
        if end == "H":
            row, column = [int(n or 1) - 1 for n in (numbers or "1;1").split(";")]
        elif end == "m":
            style = "" if numbers in ("", "0") else f"\x1b[{numbers}m"
        elif end == "J":
            grid = [[(" ", "")] * columns for _ in range(rows)]
        for character in text if not end else "":
            grid[row][column] = (character, style)
            column += 1
    write("\x03")
    write("q")
    read()
    os.waitpid(child, 0)
    return ["".join(f"{s}{c}\x1b[0m" if s else c for c, s in cells) for cells in grid]


def answers(program, store, commands):
    """The lines of the prompt's answer to each command, as a terminal shows them."""
    child, write, read_all = start(program, [store, "--no-rc"], COLUMNS, 60)

    def read():
        return read_all().replace("\r", "")

    read()
    result = []
    for command in commands:
        write(command)
        read()
        write("\r")
        # The output has the rest of the typed line, the answer, and the next prompt. Keeps the answer.
        lines = read().split("\n")
        result.append([line for line in lines[1:-1] if re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)])
    write("\x04")
    os.waitpid(child, 0)
    return result


def spans(line):
    """Pieces of a line with their colour, weight and faintness."""
    colour, bold, faint = None, False, False
    for text, codes in re.findall(r"([^\x1b]+)|\x1b\[([0-9;]*)m", re.sub(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]", "", line)):
        if text:
            yield text, colour, bold, faint
            continue
        for code in [int(c or 0) for c in codes.split(";")]:
            if code == 0:
                colour, bold, faint = None, False, False
            elif code in PALETTE:
                colour = PALETTE[code]
            elif code == 39:
                colour = None
            bold = code == 1 or bold and code != 22
            faint = code == 2 or faint and code != 22


def main(program, store, output, commands):
    rows, columns = [], COLUMNS
    if commands[0] == "--browse":
        rows, columns = browsed(os.path.abspath(program), store, commands[1]), 80
        commands = []
    for command, lines in zip(commands, answers(os.path.abspath(program), store, commands)):
        rows += [f"\x1b[32mlarder>\x1b[0m {command}"] + lines
    width, height = int(columns * WIDE) + 32, len(rows) * LINE + 52
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
           f'aria-label="A session of the Larder shell">',
           f'<rect width="{width}" height="{height}" rx="8" fill="#1e1e2e"/>']
    out += [f'<circle cx="{20 + 18 * i}" cy="18" r="5.5" fill="{c}"/>' for i, c in enumerate(("#f38ba8", "#f9e2af", "#a6e3a1"))]
    out.append(f'<g font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{SIZE}" fill="#cdd6f4" '
               'xml:space="preserve">')
    for number, row in enumerate(rows):
        column, pieces = 0, []
        for text, colour, bold, faint in spans(row):
            style = (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if bold else "")
            style += ' opacity="0.65"' if faint else ""
            length, shown = len(text), html.escape(text).replace(" ", NO_BREAK)
            pieces.append(f'<tspan x="{16 + column * WIDE:.1f}" textLength="{length * WIDE:.1f}"{style}>{shown}</tspan>')
            column += length
        out.append(f'<text y="{48 + number * LINE}">{"".join(pieces)}</text>')
    out.append("</g></svg>\n")
    with open(output, "w") as file:
        file.write("\n".join(out))


main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
