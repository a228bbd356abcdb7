package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// drawing is the inside of an SVG picture.
type drawing struct {
	bytes.Buffer
}

// line and rect round to tenths of a pixel, so that the same figures give the same bytes everywhere.
func (d *drawing) line(x1, y1, x2, y2 float64, stroke string, width float64) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"/>`+"\n",
		x1, y1, x2, y2, stroke, width)
}

func (d *drawing) rect(x, y, width, height, radius float64, fill, stroke string) {
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f" fill="%s" stroke="%s"/>`+"\n",
		x, y, width, height, radius, fill, stroke)
}

// text writes text at the height y. anchor says whether x is the start or the end of the text.
func (d *drawing) text(x, y float64, font font, anchor, fill, content string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" font-size="%.0f" font-weight="%s" text-anchor="%s" fill="%s">%s</text>`+"\n",
		x, y, font.size, font.weight(), anchor, fill, escape(content))
}

// picture puts the drawing on a canvas of that size. title is the text for screen readers.
func (d *drawing) picture(width, height float64, title string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f"`,
		width, height, width, height)
	out.WriteString(` role="img" font-family="Helvetica, Arial, sans-serif">` + "\n")
	fmt.Fprintf(&out, "<title>%s</title>\n%s</svg>\n", escape(title), d.Bytes())
	return out.Bytes()
}

func escape(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a buffer never returns an error
	return out.String()
}

// font is a size in pixels. The viewer chooses the typeface.
type font struct {
	size float64
	bold bool
}

func (f font) weight() string {
	if f.bold {
		return "bold"
	}
	return "normal"
}

// width returns the maximum width of text. Typefaces differ, so it uses the widths of the widest common ones.
func (f font) width(text string) float64 {
	var ems float64
	for _, letter := range text {
		switch {
		case strings.ContainsRune("ijl.,:;'|!()[]/ -", letter):
			ems += 0.46
		case strings.ContainsRune("mwMW@%", letter), letter > 0x7e:
			ems++
		case letter >= 'A' && letter <= 'Z', strings.ContainsRune("&<>=+#~^", letter):
			ems += 0.84
		default:
			ems += 0.66
		}
	}
	if f.bold {
		ems *= 1.12
	}
	return math.Ceil(ems * f.size)
}
