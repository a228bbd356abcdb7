package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// defaultWidth is the width of a terminal whose width is unknown.
const defaultWidth = 80

// screen has the properties of the output. The zero value is a file or a pipe: plain lines of any length.
type screen struct {
	// live reports whether lines can be overwritten.
	live bool
	// colour reports whether text may be coloured.
	colour bool
	// width gives the number of columns now; nil on a screen that isn't live.
	width func() int
}

// screenOf returns the properties of out.
func screenOf(out io.Writer, getenv func(string) string) screen {
	file, ok := out.(*os.File)
	if !ok || getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return screen{}
	}
	return screen{live: true, colour: getenv("NO_COLOR") == "", width: func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 {
			return defaultWidth
		}
		return width
	}}
}

// colour is a way to show text: the number of ANSI's "select graphic rendition".
type colour string

const (
	plain  colour = ""
	bold   colour = "1"
	faint  colour = "2"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

func (s screen) paint(c colour, text string) string {
	if !s.colour || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
