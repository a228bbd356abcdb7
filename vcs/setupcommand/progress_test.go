package setupcommand

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/assert"
)

func TestBar(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]string{
		100: "packing   [####################--------------------]  50%  4000/8000 objects",
		60:  "packing   [###########------------]  50%  4000/8000 objects",
		40:  "packing   [###########-----------]  50%",
		20:  "packing  50%", 10: "packing  ", 1: "",
	} {
		assert.Equal(t, want, bar(vcs.Progress{Phase: vcs.Packing, Done: 4000, Total: 8000}, columns), columns)
	}
	for _, phase := range []vcs.Phase{vcs.Reading, vcs.Packing, vcs.Verifying} {
		for columns := 1; columns < 120; columns++ {
			for _, done := range []int{0, 1, 99_999, 100_000} {
				line := bar(vcs.Progress{Phase: phase, Done: done, Total: 100_000}, columns)
				assert.Less(t, len(line), columns, "%q", line)
			}
		}
	}
	assert.Contains(t, bar(vcs.Progress{Phase: vcs.Reading}, 80), "100%  0/0 versions")
}

// show has a meter shown how far the work is at some times.
func show(live bool, at ...string) string {
	var out strings.Builder
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	m := &meter{out: &out, live: live, columns: func() int { return 80 }, now: func() time.Time { return now }, begun: start}
	for _, text := range at {
		var when string
		var p vcs.Progress
		if _, err := fmt.Sscan(text, &when, &p.Phase, &p.Done, &p.Total); err != nil {
			return err.Error()
		}
		after, err := time.ParseDuration(when)
		if err != nil {
			return err.Error()
		}
		now = start.Add(after)
		m.take(p)
	}
	m.end()
	return out.String()
}

func TestMeter(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "reading 2 versions\npacking 9 objects\npacking, 7 of 9 objects\n", show(false,
		"0s reading 0 2", "1s reading 1 2", "2s packing 0 9", "3s packing 1 9", "11s packing 6 9", "12s packing 7 9", "13s packing 9 9"), "a line for each phase, more of a long one")
	assert.Equal(t, "reading 1 version\n", show(false, "0s reading 0 1"))
	assert.Empty(t, show(true, "0s reading 0 2", "100ms packing 1 9", "299ms packing 9 9"), "what is short isn't drawn")
	long := show(true, "0s reading 0 2", "400ms packing 1 9", "450ms packing 2 9", "500ms packing 3 9")
	assert.Equal(t, 2, strings.Count(long, "packing"), "a picture stays for a moment")
	assert.True(t, strings.HasSuffix(long, "\r\x1b[K"), "in the end it goes")
}
