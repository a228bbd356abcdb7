package explore

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes of a picture in pixels.
const (
	rowHeight   = 44
	indentation = 34
	radius      = 13
	border      = 24
	perLetter   = 7.2
	mostLetters = 100
)

// Colours of a picture.
const (
	calmFill, calmLine         = "#c8e6c9", "#2e7d32"
	strangeFill, strangeLine   = "#fff3c4", "#b28704"
	findingFill, findingLine   = "#ffcdd2", "#c62828"
	lineColour, secondaryLines = "#9e9e9e", "#616161"
)

// canvas is a picture that is being drawn, row by row.
type canvas struct {
	b     strings.Builder
	y     float64
	width float64
}

// branch draws a line from a place down to the present row.
func (c *canvas) branch(x, y, to float64) {
	fmt.Fprintf(&c.b, `<path d="M%.1f %.1fV%.1fH%.1f" fill="none" stroke="%s"/>`+"\n", x, y+radius, c.y, to, lineColour)
}

func (c *canvas) circle(x, y float64, fill, line, number string) {
	fmt.Fprintf(&c.b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="%s" stroke="%s"/>`, x, y, radius, fill, line)
	fmt.Fprintf(&c.b, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="11">%s</text>`+"\n", x, y+4, number)
}

// text writes a line, cut if it is too long: then it is shown in full when the mouse is over it.
func (c *canvas) text(x, y float64, colour, text string) {
	if text == "" {
		return
	}
	short := cut(text, mostLetters)
	title := ""
	if short != text {
		title = "<title>" + escaped(text) + "</title>"
	}
	fmt.Fprintf(&c.b, `<text x="%.1f" y="%.1f" fill="%s">%s%s</text>`+"\n", x, y, colour, title, escaped(short))
	c.width = max(c.width, x+perLetter*float64(utf8.RuneCountInString(short)))
}

// finding draws the box of a finding, the nth counted from 1.
func (c *canvas) finding(x, y float64, n int, f *finding) {
	fmt.Fprintf(&c.b, `<rect x="%.1f" y="%.1f" width="10" height="32" fill="%s"/>`+"\n", x, y-16, findingLine)
	c.text(x+18, y-1, findingLine, fmt.Sprintf("finding %d: %s", n, f.problem))
	if len(f.details) > 0 {
		c.text(x+18, y+14, secondaryLines, strings.Join(strings.Fields(f.details[0]), " "))
	}
}

// legend explains the colours, and says how many places aren't shown.
func (c *canvas) legend(hidden int) {
	c.y += radius / 2
	x := float64(border + radius)
	for _, one := range [][3]string{
		{calmFill, calmLine, "at rest, without a disturbance"},
		{strangeFill, strangeLine, "only after a disturbance"},
		{findingFill, findingLine, "a finding shows"},
	} {
		fmt.Fprintf(&c.b, `<circle cx="%.1f" cy="%.1f" r="6" fill="%s" stroke="%s"/>`, x, c.y, one[0], one[1])
		c.text(x+12, c.y+4, secondaryLines, one[2])
		x += 36 + perLetter*float64(len(one[2]))
	}
	if hidden > 0 {
		c.y += rowHeight / 2
		c.text(border, c.y+4, secondaryLines, fmt.Sprintf("%d more states aren't shown", hidden))
	}
	c.y += radius
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}
