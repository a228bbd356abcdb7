package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// sizeOf returns the size of a terminal. It returns false if out is no terminal.
func sizeOf(out io.Writer) (columns, lines int, is bool) {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, 0, false
	}
	columns, lines, err := term.GetSize(int(file.Fd()))
	return columns, lines, err == nil && columns > 0 && lines > 0
}

// paper is a Writer with a width in columns, which columnsOf returns.
type paper struct {
	io.Writer
	columns int
}

// columnsOf returns the width of a terminal or paper. 0 means no limit.
func columnsOf(out io.Writer) int {
	if p, ok := out.(paper); ok {
		return p.columns
	}
	columns, _, _ := sizeOf(out)
	return columns
}

// cutTo cuts a line to the given number of columns. 0 means no limit.
func cutTo(line string, columns int) string {
	if columns == 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	letters := []rune(line)
	return strings.TrimRight(string(letters[:columns-1]), " ") + "…"
}

// screen shows pictures, which are texts, one after the other. On a terminal each picture replaces the previous one,
// elsewhere it is written below the previous one.
type screen struct {
	out io.Writer
	// between is the text between two pictures that stand below each other. If stream is true, pictures stand below
	// each other on a terminal, too.
	between string
	stream  bool
	// drawn is how many lines of the terminal the last picture took. columns is how many columns the terminal had then.
	drawn, columns int
	last           string
}

// terminal reports whether pictures replace each other.
func (s *screen) terminal() bool {
	_, _, is := sizeOf(s.out)
	return is && !s.stream
}

// draw shows a picture unless it equals the last one.
func (s *screen) draw(picture func(out io.Writer) error) error {
	var content strings.Builder
	if err := picture(paper{&content, columnsOf(s.out)}); err != nil {
		return err
	}
	last, columns := s.last, s.columns
	s.columns = columnsOf(s.out)
	if s.last = content.String(); s.last == last && s.columns == columns {
		return nil
	}
	text := s.last
	switch {
	case s.terminal():
		text = s.frame()
	case last != "":
		text = s.between + text
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// frame returns the picture with the control sequences that replace the previous picture. It leaves out lines for which
// the terminal has no room.
func (s *screen) frame() string {
	columns, lines, _ := sizeOf(s.out)
	shown := strings.Split(strings.TrimSuffix(s.last, "\n"), "\n")
	if most := max(lines-1, 2); len(shown) > most {
		more := len(shown) - most + 1
		shown = append(shown[:most-1], fmt.Sprintf("and %d more lines", more))
	}
	var frame strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&frame, "\x1b[%dA", s.drawn)
	}
	for _, line := range shown {
		frame.WriteString("\r" + cutTo(line, columns) + "\x1b[K\n")
	}
	frame.WriteString("\x1b[J")
	s.drawn = len(shown)
	return frame.String()
}
