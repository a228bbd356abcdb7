package schedule

import (
	"time"

	"github.com/robfig/cron/v3"
)

// fields are those of an expression, with a time zone. Seconds aren't used.
type fields cron.SpecSchedule

const (
	// star is set in a field that begins with a star.
	star uint64 = 1 << 63
	// quarter is a time after which each day begins, and each clock changes.
	quarter = 15 * time.Minute
	// horizon is the number of years in which each date comes: 2100 is no leap year.
	horizon = 9
)

// next returns the first minute after a time whose local time fits, and false if no date does. The parser's own search
// misses moments where the clocks change by half an hour.
func (f *fields) next(after time.Time) (time.Time, bool) {
	t := after.In(f.Location).Truncate(time.Minute).Add(time.Minute)
	for end := t.AddDate(horizon, 0, 0); t.Before(end); {
		switch {
		case !has(f.Month, int(t.Month())):
			t = near(t, time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, f.Location))
		case !f.onDay(t):
			t = near(t, time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, f.Location))
		case !has(f.Hour, t.Hour()):
			t = t.Truncate(quarter).Add(quarter)
		case !has(f.Minute, t.Minute()):
			t = t.Add(time.Minute)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

// near returns a time after t that isn't later than midnight. The midnight of a day may be skipped or come twice, so it
// is approached in quarters of an hour.
func near(t, midnight time.Time) time.Time {
	next, before := t.Truncate(quarter).Add(quarter), midnight.Add(-2*time.Hour)
	if before.After(next) {
		return before
	}
	return next
}

// onDay reports whether the day fits: both the day of the month and that of the week, or one of them if both are
// limited.
func (f *fields) onDay(t time.Time) bool {
	month, week := has(f.Dom, t.Day()), has(f.Dow, int(t.Weekday()))
	if (f.Dom|f.Dow)&star != 0 {
		return month && week
	}
	return month || week
}

// has reports whether a value is in the set of a field.
func has(set uint64, value int) bool { return set>>value&1 != 0 }

// isEmpty reports whether a field is an empty list, with which no time fits.
func (f *fields) isEmpty() bool {
	return f.Minute == 0 || f.Hour == 0 || f.Dom == 0 || f.Month == 0 || f.Dow == 0
}
