package schedule

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zones have clocks that change by an hour or half an hour, at midnight or by a day, or never.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "America/Havana", "Australia/Lord_Howe", "Pacific/Chatham",
	"Pacific/Apia", "Asia/Kathmandu", "Asia/Pyongyang", "Africa/Casablanca", "Antarctica/Troll", "Africa/Cairo", "Asia/Amman",
}

// fits reports whether the local time of a minute fits an expression: as the parser finds it in UTC, where no clock
// changes.
func fits(parsed cron.Schedule, t time.Time) bool {
	local := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
	return parsed.Next(local.Add(-time.Second)).Equal(local)
}

// slowly is the next moment, found minute by minute.
func slowly(parsed cron.Schedule, location *time.Location, after time.Time) time.Time {
	t := after.In(location).Truncate(time.Minute)
	for range 4 * 24 * 60 {
		t = t.Add(time.Minute)
		if fits(parsed, t) {
			return t
		}
	}
	return time.Time{}
}

// Moments of random expressions, around the changes of the clocks.
func TestMomentsAreThoseOfAllMinutes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(36, 3))
	pick := func(options ...string) string { return options[random.IntN(len(options))] }
	number := func(below int) string { return strconv.Itoa(random.IntN(below)) }
	for _, zone := range zones {
		t.Run("handlers 48: "+strings.ReplaceAll(zone, "/", " "), func(t *testing.T) {
			location, err := time.LoadLocation(zone)
			require.NoError(t, err)
			changes := changesOf(location)
			for range 10 {
				expression := strings.Join([]string{
					pick("*", "0", "*/20", "15,45", number(60)), pick("*", "0", "*/2", "1-3", "23", number(24), number(4)),
					pick("*", "*", "*/2", number(28)+"-31"), "*", pick("*", "*", "1-5", number(7)),
				}, " ")
				expression = strings.Replace(expression, " 0-31", " 1-31", 1)
				parsed, err := cron.ParseStandard("TZ=UTC " + expression)
				require.NoError(t, err)
				c := newCron(t, expression, zone)
				now := changes[random.IntN(len(changes))].Add(time.Duration(random.IntN(72*60)-48*60) * time.Minute)
				for range 3 {
					want := slowly(parsed, location, now)
					if want.IsZero() {
						break
					}
					next := c.next(now).time()
					require.True(t, want.Equal(next), "%q after %s: want %s, got %s", expression, now.In(location), want, next.In(location))
					now = next
				}
			}
		})
	}
}

// changesOf returns when a clock changed or will, or some other time if it never does.
func changesOf(location *time.Location) []time.Time {
	all := []time.Time{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	for t := time.Date(2008, 1, 1, 0, 0, 0, 0, location); t.Year() < 2030; {
		_, end := t.ZoneBounds()
		if end.IsZero() {
			break
		}
		all, t = append(all, end), end
	}
	return all
}

// FuzzNewCron reads any expression in any zone. What is accepted has moments that come one after another, and are in
// UTC those that the parser finds.
func FuzzNewCron(f *testing.F) {
	for _, expression := range []string{
		"0 3 * * *", "*/5 1-3,22 1,15 * MON-FRI", "0 0 29 2 *", "@daily", "@every 36h", "CRON_TZ=Asia/Tokyo 0 3 * * *", "TZ=0", "? ? ? ? ?", ", * * * *",
		"0/7 5/3 */2 JAN-dec/2 0", "59 23 31 2 *", "0 0 13 * 5", "\v@daily",
	} {
		f.Add(expression, "Europe/Berlin", int64(1774746000))
		f.Add(expression, "", int64(1))
	}
	f.Fuzz(func(t *testing.T, expression, zone string, unix int64) {
		c, err := NewCron("cron", expression, zone)
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), "cron: "), err.Error())
			return
		}
		now := time.Unix(1400000000+(unix%2e9+2e9)%2e9, unix&1).UTC()
		_, text := split(expression)
		parsed, err := cron.ParseStandard(text)
		require.NoError(t, err, "the parser reads it, too")
		for range 3 {
			next := c.next(now)
			require.Less(t, next, never, "each expression has a moment")
			require.Greater(t, next, at(now))
			require.Zero(t, next.time().Nanosecond())
			if c.every == 0 && c.fields.Location == time.UTC {
				want := parsed.(*cron.SpecSchedule)
				want.Location = time.UTC
				if found := want.Next(now); !found.IsZero() {
					require.True(t, found.Equal(next.time()), "want %s, got %s", found, next.time())
				}
			}
			now = next.time()
		}
	})
}
