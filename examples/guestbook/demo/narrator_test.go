package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason string
		text   string
		indent int
		room   int
		want   []string
	}{
		{"no limit", strings.Repeat("word ", 40), 4, 0, []string{strings.Repeat("word ", 40)}},
		{"it fits", "head text", 5, 20, []string{"head text"}},
		{"it fits exactly", "12345678901234567890", 5, 20, []string{"12345678901234567890"}},
		{"broken at the last space, the rest indented", "head one two three four", 5, 20, []string{"head one two three", "     four"}},
		{"a space at the very edge", "head one two three45 x", 5, 20, []string{"head one two three45", "     x"}},
		{"the head's own spaces are no place to break at", "h    aaaaaaaaaaaaaaaaaaaaaaaa", 5, 20, []string{"h    aaaaaaaaaaaaaaa", "     aaaaaaaaa"}},
		{"no room to indent in", "head one two three four", 5, 12, []string{"head one two three four"}},
		{"characters count, not bytes", "äöü äöü äöü äöü äöü", 2, 15, []string{"äöü äöü äöü äöü", "  äöü"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, wrap(test.text, test.indent, test.room))
		})
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("    0.01 s  redis      Secret hello-redis created", 4, 30)
	f.Add(strings.Repeat("x", 100), 3, 20)
	f.Add("a  b   c", 0, 11)
	f.Fuzz(func(t *testing.T, text string, indent, room int) {
		if indent < 0 || indent > 100 || room > 200 || strings.ContainsAny(text, "\n\t\v\f\r\u0085\u00a0") {
			return
		}
		lines := wrap(text, indent, room)
		assert.Equal(t, letters(text), letters(strings.Join(lines, "")), "nothing is lost, nothing added")
		for i, line := range lines {
			if room > indent+10 {
				assert.LessOrEqual(t, len([]rune(line)), room)
			}
			if i > 0 {
				assert.True(t, strings.HasPrefix(line, strings.Repeat(" ", indent)), "line %d is indented: %q", i, line)
			}
		}
	})
}

// letters are the runes without spaces.
func letters(text string) []rune { return []rune(strings.ReplaceAll(text, " ", "")) }

func TestPlainNarrationIsPlainLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := newClock()
	n := newNarrator(&out, screen{}, now.now)
	n.say("Title")
	n.step(3, "create", "apply it")
	now.at = now.at.Add(1234 * time.Millisecond)
	n.show([]string{"a picture"})
	n.note(green, "redis", strings.Repeat("long ", 30)+"line")
	n.remark(faint, "operator", "made 1 write")
	n.show(nil)
	assert.Equal(t, "Title\n"+
		"\n 3  create            apply it\n"+
		"    1.23 s  redis      "+strings.Repeat("long ", 30)+"line\n"+
		"            operator   made 1 write\n", out.String())
}

func TestThePictureStaysBelowTheLines(t *testing.T) {
	t.Parallel()
	terminal := newEmulator(t, 40)
	n := newNarrator(terminal, screen{live: true, colour: true, width: func() int { return 40 }}, newClock().now)
	n.note(plain, "a", "first")
	n.show([]string{"picture 1", "of two lines"})
	n.note(red, "b", "second, too long for one line")
	assert.Equal(t, "    0.00 s  a          first\n"+
		"    0.00 s  b          second, too long\n"+
		"                       for one line\n"+
		"picture 1\nof two lines\n", terminal.text())
	n.show([]string{"picture 2"})
	assert.True(t, strings.HasSuffix(terminal.text(), "line\npicture 2\n"), terminal.text())
	n.show(nil)
	assert.True(t, strings.HasSuffix(terminal.text(), "line\n"), terminal.text())
	assert.Positive(t, terminal.colours)
	assert.LessOrEqual(t, terminal.widest, 39, "the last column stays free")
}

func TestNoColorWithoutColours(t *testing.T) {
	t.Parallel()
	terminal := newEmulator(t, 80)
	n := newNarrator(terminal, screen{live: true, width: func() int { return 80 }}, newClock().now)
	n.step(1, "one", "does it")
	n.note(green, "redis", "ready")
	n.show(newBoard(sampleRef).picture(n.screen, n.room(), "waiting"))
	assert.Zero(t, terminal.colours)
}

// brokenPipe is a reader that has gone.
type brokenPipe struct{}

var errPipe = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestAReaderThatWentIsNoticed(t *testing.T) {
	t.Parallel()
	n := newNarrator(brokenPipe{}, screen{}, newClock().now)
	n.say("to nobody")
	n.say("again")
	require.ErrorIs(t, n.err, errPipe)
	assert.ErrorContains(t, n.err, "output: ")
}
