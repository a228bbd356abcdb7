package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Charts draws a chart for each figure into dir, which it creates if it doesn't exist. The files are <figure>.svg, or
// <figure>-per-<per>.svg for a divided figure. A chart is a card that is readable on pages of any colour. For each
// operator it has a bar with the length of the median, a whisker from least to most, and the values as text. Bars start
// at 0. The same report gives the same bytes. If several rows have the same figure, the first row sets title, unit and
// decimals.
//
// A row with an error has no chart, and its chart of an earlier call is removed. All other charts are drawn before
// Charts returns the errors.
func (r Report) Charts(dir string) error {
	results, err := r.Results()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("charts: %w", err)
	}
	var failed []error
	drawn := map[string]bool{}
	for _, result := range results {
		if result.Err != nil {
			failed = append(failed, result.Err)
		}
		name := result.Row.chartName()
		if drawn[name] || !plain.MatchString(result.Row.Figure) {
			continue
		}
		path := filepath.Join(dir, name)
		if result.Err != nil {
			err = remove(path)
		} else {
			drawn[name] = true
			err = writeWhole(path, result.chart(r.Operators[0]))
		}
		if err != nil {
			return fmt.Errorf("chart of %s: %w", result.Row.Name, err)
		}
	}
	return errors.Join(failed...)
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r Row) chartName() string {
	if r.Per == "" {
		return r.Figure + ".svg"
	}
	return r.Figure + "-per-" + r.Per + ".svg"
}

// Sizes in pixels.
const (
	margin    = 20.0
	gap       = 8.0
	barLength = 380.0
	barHeight = 18.0
	rowHeight = 32.0
	headLines = 64.0
	capHeight = 8.0
)

// Colours have enough contrast with the white of the card, and the whisker also with both kinds of bars.
const (
	white     = "#ffffff"
	border    = "#d0d7de"
	ink       = "#1f2328"
	faint     = "#59636e"
	oursFill  = "#218bff"
	otherFill = "#afb8c1"
)

var (
	titleFont = font{size: 16, bold: true}
	noteFont  = font{size: 12}
	nameFont  = font{size: 13}
	oursFont  = font{size: 13, bold: true}
)

// chart draws a result that has values.
func (r Result) chart(ours string) []byte {
	var most, names, texts float64
	for _, s := range r.Spreads {
		most = max(most, s.Max)
		names = max(names, oursFont.width(s.Operator))
		texts = max(texts, oursFont.width(s.text(r.Row.Decimals, r.Rounds)))
	}
	zero := margin + names + gap
	title, note := r.Row.heading(), r.note()
	width := max(zero+barLength+gap+texts, margin+titleFont.width(title), margin+noteFont.width(note)) + margin
	height := headLines + rowHeight*float64(len(r.Spreads)) + margin

	var d drawing
	d.rect(0.5, 0.5, width-1, height-1, 8, white, border)
	d.text(margin, margin+14, titleFont, "start", ink, title)
	d.text(margin, margin+34, noteFont, "start", faint, note)
	scale := 0.0
	if most > 0 {
		scale = barLength / most
	}
	for i, s := range r.Spreads {
		r.bar(&d, s, s.Operator == ours, zero, headLines+rowHeight*(float64(i)+0.5), scale)
	}
	d.line(zero, headLines, zero, height-margin, faint, 1)
	return d.picture(width, height, title)
}

// bar draws one operator around the height middle.
func (r Result) bar(d *drawing, s Spread, ours bool, zero, middle, scale float64) {
	name, fill := nameFont, otherFill
	if ours {
		name, fill = oursFont, oursFill
	}
	least, most := zero+s.Min*scale, zero+s.Max*scale
	d.text(zero-gap, middle+4.5, name, "end", ink, s.Operator)
	d.rect(zero, middle-barHeight/2, s.Median*scale, barHeight, 0, fill, "none")
	if most > least {
		d.line(least, middle, most, middle, ink, 1.5)
		d.line(least, middle-capHeight/2, least, middle+capHeight/2, ink, 1.5)
		d.line(most, middle-capHeight/2, most, middle+capHeight/2, ink, 1.5)
	}
	d.text(most+gap, middle+4.5, name, "start", ink, s.text(r.Row.Decimals, r.Rounds))
}

func (r Result) note() string {
	if r.Rounds == 1 {
		return "one round"
	}
	return fmt.Sprintf("bar: median of %d rounds; whisker: least to most", r.Rounds)
}
