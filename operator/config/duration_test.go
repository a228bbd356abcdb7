package config

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, text string
		want         time.Duration
	}{
		{"watch 16: all of oper8's parts", "12hr13m14s", 12*time.Hour + 13*time.Minute + 14*time.Second},
		{"watch 16: a fraction of seconds", "62.5s", 62500 * time.Millisecond},
		{"watch 16: hours alone", "2hr", 2 * time.Hour},
		{"watch 16: without minutes", "1hr1.5s", time.Hour + 1500*time.Millisecond},
		{"watch 16: minutes and seconds", "1m30s", 90 * time.Second},
		{"watch mistake 9: hours as in Go", "1h", time.Hour},
		{"watch mistake 9: less than a second", "500ms", 500 * time.Millisecond},
		{"watch 13: empty is none", "", 0},
		{"none", "0", 0},
		{"what is negative, others judge", "-1h", -time.Hour},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var d duration
			require.NoError(t, d.Set(row.text))
			assert.Equal(t, row.want, time.Duration(d))
		})
	}
}

func TestDurationRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text string }{
		{"watch mistake 9: a day has no fixed length in Go, nor a letter", "1d"},
		{"watch 16: another order", "14s12hr"},
		{"watch 16: a part twice", "1hr1hr"},
		{"watch 16: hours have no fraction", "1.5hr"},
		{"watch 16: both forms at once", "1hr500ms"},
		{"watch 16: nothing negative", "-1hr"},
		{"a number without a unit", "10"},
		{"a unit without a number", "hr"},
		{"more than there is", "9999999999hr"},
		{"text", "often"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			d := duration(time.Minute)
			assert.EqualError(t, d.Set(row.text), "invalid duration: write for example 90s, 500ms, 1h30m or 1hr30m, and 24h for a day")
			assert.Equal(t, time.Minute, time.Duration(d), "it stays as it was")
		})
	}
}

// FuzzDuration: what Go reads is read as Go does, what is read comes back from its text, and oper8's hours are Go's.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"12hr13m14s", "62.5s", "1h", "500ms", "1d", "", "-1h", "hr", "1hr.5s", "0"} {
		f.Add(text, int64(3))
	}
	f.Fuzz(func(t *testing.T, text string, hours int64) {
		var d, again duration
		err := d.Set(text)
		if parsed, wrong := time.ParseDuration(text); wrong == nil {
			require.NoError(t, err)
			assert.Equal(t, parsed, time.Duration(d))
		}
		if err == nil {
			require.NoError(t, again.Set(d.String()))
			assert.Equal(t, d, again)
		}
		if hours >= 0 && hours <= math.MaxInt64/int64(time.Hour) {
			require.NoError(t, again.Set(strconv.FormatInt(hours, 10)+"hr"))
			assert.Equal(t, time.Duration(hours)*time.Hour, time.Duration(again))
		}
	})
}
