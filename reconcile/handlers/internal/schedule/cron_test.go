package schedule

import (
	"testing"
	"time"
	_ "time/tzdata" // the machine may have no time zones

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newCron(t testing.TB, expression, zone string) *Cron {
	t.Helper()
	c, err := NewCron("cron", expression, zone)
	require.NoError(t, err)
	return c
}

func parsed(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	parsed, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return parsed
}

func TestUnusableExpressions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, expression, zone, fault string }{
		{"no field is missing", "0 3 * *", "", `cron: the expression "0 3 * *" can't be read: expected exactly 5 fields, found 4: [0 3 * *]: write five fields such as 0 3 * * *, or a word such as @daily`},
		{"there are no seconds", "0 0 3 * * *", "", "expected exactly 5 fields, found 6"},
		{"it isn't empty", " ", "", "can't be read"},
		{"a field is in its bounds", "60 3 * * *", "", "above maximum"},
		{"a list has elements", ", 3 * * *", "", `the expression ", 3 * * *" has no moment: change its fields`},
		{"each list has elements", "0 3 1 * ,", "", "has no moment"},
		{"a date exists", "0 3 31 2 *", "", "has no moment"},
		{"a date exists in some year", "0 3 30 2 *", "UTC", "has no moment"},
		{"a word is known", "@dayly", "", "can't be read"},
		{"a time has whole seconds", "@every 1500ms", "", `cron: "@every 1500ms" is no number of whole seconds: write one, or use a timer`},
		{"a time is positive", "@every -1h", "", "is no number of whole seconds"},
		{"a time is more than nothing", "@every 0s", "", "is no number of whole seconds"},
		{"a zone is known", "0 3 * * *", "Europe/Berln", "cron: the time zone can't be loaded: unknown time zone Europe/Berln: use a name such as Europe/Berlin, and import"},
		{"a zone is no path", "0 3 * * *", "../etc/passwd", "the time zone can't be loaded"},
		{"the machine's zone isn't the operator's", "CRON_TZ=Local 0 3 * * *", "", "the time zone Local depends on the machine"},
		{"a zone is set once", "CRON_TZ=UTC 0 3 * * *", "UTC", `there are two time zones, "UTC" in the expression and "UTC"`},
		{"a zone comes before fields", "TZ=UTC", "", "can't be read"},
		{"a zone comes first", "0 3 * * CRON_TZ=UTC", "", "has a time zone in the middle"},
		{"a zone comes once", "TZ=UTC TZ=0", "", "has a time zone in the middle"},
	} {
		t.Run("handlers 40: "+row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := NewCron("cron", row.expression, row.zone)
			assert.ErrorContains(t, err, row.fault)
		})
	}
	t.Run("handlers 40: all mistakes at once", func(t *testing.T) {
		t.Parallel()
		_, err := NewCron("cron", "CRON_TZ=Moon 61 * * * *", "")
		require.ErrorContains(t, err, "unknown time zone Moon")
		assert.ErrorContains(t, err, "above maximum")
	})
}

// The moments after a time, in zones whose clocks change.
func TestMoments(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, expression, zone, after string
		moments                         []string
	}{
		{"UTC if no zone is named", "0 3 * * *", "", "2026-01-01T00:00:00Z", []string{"2026-01-01T03:00:00Z", "2026-01-02T03:00:00Z"}},
		{"a zone beside it", "0 3 * * *", "Asia/Tokyo", "2026-01-01T00:00:00Z", []string{"2026-01-01T18:00:00Z", "2026-01-02T18:00:00Z"}},
		{"a zone in it", "CRON_TZ=Asia/Tokyo 0 3 * * *", "", "2026-01-01T00:00:00Z", []string{"2026-01-01T18:00:00Z"}},
		{"a zone in it, in short", " TZ=Asia/Tokyo\t0 3 * * * ", "", "2026-01-01T00:00:00Z", []string{"2026-01-01T18:00:00Z"}},
		{"the zone of the time given doesn't matter", "0 3 * * *", "", "2026-01-01T02:00:00+09:00", []string{"2026-01-01T03:00:00Z"}},
		{"a word", "@weekly", "Europe/Berlin", "2026-01-01T00:00:00Z", []string{"2026-01-03T23:00:00Z"}},
		{"a time from the start", "@every 36h", "", "2026-01-01T00:00:00Z", []string{"2026-01-02T12:00:00Z", "2026-01-04T00:00:00Z"}},
		{"a leap day", "0 0 29 2 *", "", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		{"a leap day, in eight years", "0 0 29 2 *", "", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		{"either of two days", "0 0 13 * FRI", "", "2026-03-12T00:00:00Z", []string{"2026-03-13T00:00:00Z", "2026-03-20T00:00:00Z"}},
		{"a time keeps its hour when the clocks go forward", "0 3 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z",
			[]string{"2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"}},
		{"a time that is skipped has no moment", "30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z",
			[]string{"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"}},
		{"a time that comes twice has two moments", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}},
		{"each hour goes on in spring", "0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}},
		{"each hour goes on in autumn", "0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z",
			[]string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"}},
		{"a midnight that is skipped", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", []string{"2018-11-05T02:00:00Z"}},
		{"a midnight that comes twice", "30 0 29 10 *", "Asia/Amman", "2021-09-01T00:00:00Z", []string{"2021-10-28T21:30:00Z", "2021-10-28T22:30:00Z"}},
		{"a day that is skipped", "0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00-10:00", []string{"2011-12-30T22:00:00Z"}},
		{"clocks that change by half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-04-03T15:00:00Z",
			[]string{"2026-04-03T15:15:00Z", "2026-04-04T15:45:00Z", "2026-04-05T15:45:00Z"}},
	} {
		t.Run("handlers 48: "+row.reason, func(t *testing.T) {
			t.Parallel()
			c, now := newCron(t, row.expression, row.zone), parsed(t, row.after)
			var moments []string
			for range row.moments {
				next := c.next(now)
				require.Less(t, next, never)
				now = next.time()
				moments = append(moments, now.Format(time.RFC3339))
			}
			assert.Equal(t, row.moments, moments)
		})
	}
}

// When a cron of an object is called next, by what is stored.
func TestStartCrons(t *testing.T) {
	t.Parallel()
	c := newCron(t, "0 3 * * *", "")
	for _, row := range []struct {
		reason               string
		created, stored, now string
		due                  string
	}{
		{"nothing stored: the first moment after the creation", "2026-01-05T12:00:00Z", "", "2026-01-05T12:00:01Z", "2026-01-06T03:00:00Z"},
		{"nothing stored: also if the operator was down then", "2026-01-05T12:00:00Z", "", "2026-01-09T12:00:00Z", "2026-01-06T03:00:00Z"},
		{"nothing stored: a moment at the creation isn't after it", "2026-01-05T03:00:00Z", "", "2026-01-05T03:00:01Z", "2026-01-06T03:00:00Z"},
		{"no creation: the first moment from now", "", "", "2026-01-09T12:00:00Z", "2026-01-10T03:00:00Z"},
		{"the API server's clock is ahead", "2026-01-05T03:00:01Z", "", "2026-01-05T02:59:59Z", "2026-01-05T03:00:00Z"},
		{"the first moment after the last call", "2026-01-01T12:00:00Z", "2026-01-05T03:00:00Z", "2026-01-05T12:00:00Z", "2026-01-06T03:00:00Z"},
		{"the operator was down: the moment is due since", "2026-01-01T12:00:00Z", "2026-01-05T03:00:00Z", "2026-01-09T12:00:00Z", "2026-01-06T03:00:00Z"},
		{"a call that came late", "2026-01-01T12:00:00Z", "2026-01-05T14:00:00Z", "2026-01-05T15:00:00Z", "2026-01-06T03:00:00Z"},
		{"the other process's clock is ahead", "2026-01-01T12:00:00Z", "2026-01-05T03:00:00Z", "2026-01-05T02:59:57Z", "2026-01-06T03:00:00Z"},
		{"the other process's clock was wrong", "2026-01-01T12:00:00Z", "2099-01-01T03:00:00Z", "2026-01-05T12:00:00Z", "2026-01-06T03:00:00Z"},
	} {
		t.Run("handlers 49: "+row.reason, func(t *testing.T) {
			t.Parallel()
			s := c.Start(State{}, parsed(t, row.created), parsed(t, row.stored), parsed(t, row.now))
			assert.Equal(t, row.due, s.due.time().Format(time.RFC3339))
			_, hasCalled := s.Called()
			assert.Equal(t, row.stored != "", hasCalled, "without a call there is nothing to store")
		})
	}
}

// One call after days without, and the next one at the next moment.
func TestMissedMoments(t *testing.T) {
	t.Parallel()
	c := newCron(t, "0 * * * *", "")
	hour := func(h float64) time.Time { return second(h * 3600) }
	begin := c.Start(State{}, hour(0), time.Time{}, hour(0))
	failing, _ := Retried(c, begin, progress.Limits{}, time.Hour, hour(1), hour(1.25))
	givenUp, why := Retried(c, begin, progress.Limits{Attempts: 1}, time.Hour, hour(1), hour(1.25))
	require.Equal(t, "given up after 1 attempts", why)
	again, _ := Retried(c, c.Ended(begin, hour(1), hour(1)), progress.Limits{}, time.Hour, hour(2), hour(2))
	for _, row := range []struct {
		reason string
		state  State
		due    float64
		called float64
	}{
		{"the next moment", c.Ended(begin, hour(1), hour(1)), 2, 1},
		{"many were missed: one call", c.Ended(begin, hour(50.5), hour(50.5)), 51, 50.5},
		{"the object was paused", c.Start(begin.Suspend(), hour(0), time.Time{}, hour(50)), 1, 0},
		{"one is missed during the call", c.Ended(begin, hour(1), hour(2.5)), 2, 1},
		{"many are missed during the call", c.Ended(begin, hour(1), hour(9.5)), 2, 1},
		{"a moment that comes during a delay waits", failing, 2.25, 0},
		{"and is done with by the next attempt", c.Ended(failing, hour(2.25), hour(2.25)), 3, 2.25},
		{"a call that is given up is done with", givenUp, 2, 1},
		{"another process has called it", c.Start(begin, hour(0), hour(5), hour(5.5)), 6, 5},
		{"another process has called it, during a delay", c.Start(failing, hour(0), hour(2), hour(2)), 3, 2},
		{"what is stored is known, in whole seconds", c.Start(c.Ended(begin, hour(1).Add(time.Millisecond), hour(1)), hour(0), hour(1), hour(1.5)), 2, 1},
		{"what is stored ends no delay", c.Start(again, hour(0), hour(1), hour(2.5)), 3, 1},
		{"what is stored is older than what is known", c.Start(c.Ended(begin, hour(5), hour(5)), hour(0), hour(4), hour(5)), 6, 5},
	} {
		t.Run("handlers 49: "+row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, hour(row.due), row.state.due.time())
			called, ok := row.state.Called()
			assert.Equal(t, row.called != 0, ok)
			if ok {
				assert.Equal(t, hour(row.called), called.Truncate(time.Second))
			}
		})
	}
	t.Run("handlers 46: a permanent error gives up the moment only", func(t *testing.T) {
		t.Parallel()
		failed := c.Failed(failing, hour(2.25), hour(2.25))
		assert.False(t, failed.Stopped())
		assert.Zero(t, failed.Attempts())
		assert.Equal(t, hour(3), failed.due.time())
	})
}
