package build

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// clock is a time that only the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time              { return c.at }
func (c *clock) advance(steps time.Duration) { c.at = c.at.Add(steps) }

func TestMeterWithoutATerminalSpeaksSeldom(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &clock{at: time.Unix(0, 0)}
	m := newMeter(&out, c.now)
	m.begin("compiling", 200)
	for i := range 200 {
		c.advance(100 * time.Millisecond)
		m.reach(i+1, fmt.Sprintf("example/p%d", i+1))
	}
	m.end()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	assert.Len(t, lines, 10, "one each ten percent: %s", out.String())
	assert.Equal(t, "devcluster: compiling  10% (20/200) 2s example/p20", lines[0])
	assert.Equal(t, "devcluster: compiling 100% (200/200) 20s example/p200", lines[9])
	assert.NotContains(t, out.String(), "\r")
}

func TestMeterBreaksALongSilence(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &clock{at: time.Unix(0, 0)}
	m := newMeter(&out, c.now)
	m.tick()
	assert.Empty(t, out.String(), "nothing has begun")
	m.begin("linking", 0)
	for range 40 {
		c.advance(time.Second)
		m.tick()
	}
	m.end()
	m.tick()
	assert.Equal(t, "devcluster: linking 0 8s \ndevcluster: linking 0 16s \ndevcluster: linking 0 24s \ndevcluster: linking 0 32s \ndevcluster: linking 0 40s \n", out.String())
}

func TestMeterOnATerminalKeepsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &clock{at: time.Unix(0, 0)}
	m := newMeter(&out, c.now)
	m.live = true
	m.begin("compiling", 3)
	c.advance(61 * time.Second)
	m.reach(2, "example/"+strings.Repeat("long", 40))
	m.reach(1, "example/late") // the count never goes back
	m.say("built %s", "it")
	m.end()
	const clear = "\r\x1b[K"
	parts := strings.Split(out.String(), clear)
	assert.Equal(t, "devcluster: compiling   0% (0/3) 0s ", parts[1])
	assert.Len(t, parts[2], columns, "cut, so that it stays one line")
	assert.Equal(t, "devcluster: compiling  66% (2/3) 1m1s example/late", parts[3])
	assert.Equal(t, "devcluster: built it\n", parts[4])
	assert.Len(t, parts, 5, "and no line stays that is not whole: %q", out.String())
}

func TestMeterOfNobody(t *testing.T) {
	t.Parallel()
	m := newMeter(nil, time.Now)
	m.begin("x", 1)
	m.say("y")
	assert.False(t, m.live)
}
