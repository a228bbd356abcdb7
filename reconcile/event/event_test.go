package event

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, text string
		most         int
		want         string
	}{
		{"what fits stays", "abcdefghij", 10, "abcdefghij"},
		{"the middle goes", "abcdefghijk", 10, "abcd...ijk"},
		{"an odd length", "abcdefghijkl", 11, "abcd...ijkl"},
		{"letters of several bytes stay whole", "ääääääää", 10, "ää...ä"},
		{"nothing", "", 10, ""},
	} {
		assert.Equal(t, row.want, cut(row.text, row.most), row.reason)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("component web: no", 10)
	f.Add(strings.Repeat("ä", 1000), mostNote)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = 8 + most&1023
		got := cut(text, most)
		assert.LessOrEqual(t, len(got), most)
		if utf8.ValidString(text) {
			assert.True(t, utf8.ValidString(got), "%q of %q", got, text)
		}
		if len(text) <= most {
			assert.Equal(t, text, got)
		}
	})
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	var told []string
	sink := Warnings(Func(func(e Event) { told = append(told, e.Reason) }))
	sink.Record(Event{Reason: "Opened"})
	sink.Record(Event{Type: Normal, Reason: "Closed"})
	sink.Record(Event{Type: Warning, Reason: "Burns"})
	assert.Equal(t, []string{"Burns"}, told)
}
