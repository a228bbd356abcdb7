package report_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

// svg is what a test reads of a picture.
type svg struct {
	Width float64 `xml:"width,attr"`
	Title string  `xml:"title"`
	Rects []struct {
		X     float64 `xml:"x,attr"`
		Width float64 `xml:"width,attr"`
		Fill  string  `xml:"fill,attr"`
	} `xml:"rect"`
	Lines []struct {
		X1 float64 `xml:"x1,attr"`
		X2 float64 `xml:"x2,attr"`
	} `xml:"line"`
	Texts []struct {
		X      float64 `xml:"x,attr"`
		Size   float64 `xml:"font-size,attr"`
		Anchor string  `xml:"text-anchor,attr"`
		Text   string  `xml:",chardata"`
	} `xml:"text"`
}

func read(t *testing.T, path string) svg {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var picture svg
	require.NoError(t, xml.Unmarshal(content, &picture))
	return picture
}

func (s svg) words() []string {
	var all []string
	for _, text := range s.Texts {
		all = append(all, text.Text)
	}
	return all
}

func TestChartShowsSpreads(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "charts")
	r := report.Report{
		Operators: operators(), Rows: []report.Row{with(burst, func(r *report.Row) { r.Title = "a < b & c" })},
		Rounds: together(rounds(ours, "seconds", 1, 2, 3), rounds(peer, "seconds", 8, 8, 8), rounds(other, "seconds", -1, 4, -1)),
	}
	require.NoError(t, r.Charts(folder))
	path := filepath.Join(folder, "seconds.svg")
	got := read(t, path)
	assert.Equal(t, "a < b & c (s)", got.Title)
	assert.Equal(t, []string{
		"a < b & c (s)", "bar: median of 3 rounds; whisker: least to most",
		"operkit", "2.0 (1.0-3.0)", "cr-update", "8.0 (8.0-8.0)", "cr-apply", "4.0 (4.0-4.0), 1 of 3 rounds",
	}, got.words())
	require.Len(t, got.Rects, 4, "the card and a bar for each operator")
	assert.Equal(t, "#ffffff", got.Rects[0].Fill, "the card is readable on any page")
	assert.InDelta(t, got.Width, got.Rects[0].Width, 2)
	one := got.Rects[2].Width / 8
	assert.InDelta(t, 2*one, got.Rects[1].Width, 0.1, "bars are as long as the medians")
	assert.InDelta(t, 4*one, got.Rects[3].Width, 0.1)
	assert.NotEqual(t, got.Rects[2].Fill, got.Rects[1].Fill, "ours stands out")
	require.Len(t, got.Lines, 4, "a whisker of three lines where there is a range, and the line at 0")
	assert.InDelta(t, got.Rects[1].X+one, got.Lines[0].X1, 0.1, "from least")
	assert.InDelta(t, got.Rects[1].X+3*one, got.Lines[0].X2, 0.1, "to most")

	first, err := os.ReadFile(path)
	require.NoError(t, err)
	slices.Reverse(r.Rounds)
	require.NoError(t, r.Charts(folder))
	second, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(first), string(second), "the order of rounds makes no other bytes")
	assert.Equal(t, []string{"seconds.svg"}, names(t, folder), "nothing temporary")
}

// TestChartClipsNothing holds every text to the width of m in the widest of the common typefaces, in bold.
func TestChartClipsNothing(t *testing.T) {
	t.Parallel()
	const widest = 1.05
	long := strings.Repeat("m", 60)
	for _, test := range []struct {
		reason    string
		operators []string
		row       report.Row
		value     float64
	}{
		{"long names", []string{long, "n" + long}, report.Row{Title: "t"}, 1},
		{"a long title", []string{ours, peer}, report.Row{Title: long + long}, 1},
		{"a long unit", []string{ours, peer}, report.Row{Unit: long + long}, 1},
		{"a title in other letters", []string{ours, peer}, report.Row{Title: strings.Repeat("試", 100)}, 1},
		{"nothing but zeros", []string{ours, peer}, report.Row{}, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			test.row.Name, test.row.Kind, test.row.Figure = "n", report.Count, "f"
			all := together(rounds(test.operators[0], "f", test.value), rounds(test.operators[1], "f", test.value))
			require.NoError(t, report.Report{Operators: test.operators, Rows: []report.Row{test.row}, Rounds: all}.Charts(folder))
			got := read(t, filepath.Join(folder, "f.svg"))
			require.Contains(t, got.words(), test.operators[0])
			for _, text := range got.Texts {
				width := 0.0
				for _, letter := range text.Text {
					if letter == 'm' || letter > 0xff {
						width += widest * text.Size
					}
				}
				if text.Anchor == "end" {
					assert.GreaterOrEqual(t, text.X-width, 0.0, text.Text)
				} else {
					assert.LessOrEqual(t, text.X+width, got.Width, text.Text)
				}
			}
		})
	}
}

func TestChartsOfEachFigure(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	perBundle := with(calls, func(r *report.Row) { r.Name, r.Title, r.Per = "per-bundle", "Per Bundle", report.Bundles })
	again := with(calls, func(r *report.Row) { r.Name, r.Title = "again", "Another title" })
	all := together(rounds(ours, "calls", 6), rounds(ours, "seconds", 1), rounds(peer, "seconds", 2))
	r := report.Report{Operators: operators(), Rows: []report.Row{calls, burst, perBundle, again}, Rounds: all}
	require.NoError(t, r.Charts(folder))
	assert.Equal(t, []string{"calls-per-bundles.svg", "calls.svg", "seconds.svg"}, names(t, folder))
	assert.Equal(t, "Calls", read(t, filepath.Join(folder, "calls.svg")).Title, "the first row's")
	assert.Contains(t, read(t, filepath.Join(folder, "calls.svg")).words(), "one round")

	unnamed := with(calls, func(r *report.Row) { r.Name, r.Figure = "unnamed", "../x" })
	r = report.Report{Operators: operators(), Rows: []report.Row{burst, unnamed, calls}, Rounds: rounds(ours, "calls", 6)}
	err := r.Charts(folder)
	require.ErrorContains(t, err, "bench-burst: seconds is in 0 rounds")
	require.ErrorContains(t, err, `unnamed: figure "../x"`)
	assert.Equal(t, []string{"calls-per-bundles.svg", "calls.svg"}, names(t, folder), "no stale chart, all others drawn")
}

func TestChartsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := report.Report{Operators: operators(), Rows: []report.Row{calls}, Rounds: rounds(ours, "calls", 6)}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, r.Charts(file), file)
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "calls.svg"), 0o755))
	require.ErrorContains(t, r.Charts(folder), "chart of bench-calls: ")
	assert.Equal(t, []string{"calls.svg"}, names(t, folder), "nothing temporary")
}
