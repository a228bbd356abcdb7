package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// NewCron returns the cron of an expression: minute, hour, day of the month, month and day of the week, as in a
// CronJob, or a word such as @daily or "@every 36h", which counts whole seconds from the start of the last call.
//
// zone is the name of a time zone, such as Europe/Berlin; empty is UTC. The expression may begin with a zone instead,
// such as "CRON_TZ=Europe/Berlin 0 3 * * *". As for a CronJob, a time of day that the clocks skip in spring has no
// moment on that day, and one that they pass twice in autumn has two.
//
// The error joins everything that is wrong. subject begins each error.
func NewCron(subject, expression, zone string) (*Cron, error) {
	named, text := split(expression)
	location, unknown := locate(subject, named, zone)
	c := &Cron{fields: fields{Location: cmp.Or(location, time.UTC)}}
	if err := errors.Join(unknown, c.parse(subject, text)); err != nil {
		return nil, err
	}
	return c, nil
}

// split returns the time zone with which an expression begins, empty for none, and its fields.
func split(expression string) (zone, fields string) {
	fields = strings.TrimSpace(expression)
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if rest, found := strings.CutPrefix(fields, prefix); found {
			end := strings.IndexAny(rest+" ", " \t")
			return rest[:end], strings.TrimSpace(rest[end:])
		}
	}
	return "", fields
}

// locate returns the time zone that is named in the expression or beside it.
func locate(subject, named, zone string) (*time.Location, error) {
	switch {
	case named != "" && zone != "":
		return nil, fmt.Errorf("%s: there are two time zones, %q in the expression and %q: leave one of them out", subject, named, zone)
	case named+zone == "Local":
		return nil, fmt.Errorf("%s: the time zone Local depends on the machine: name the zone, such as Europe/Berlin", subject)
	}
	location, err := time.LoadLocation(named + zone)
	if err != nil {
		return nil, fmt.Errorf("%s: the time zone can't be loaded: %w: use a name such as Europe/Berlin, and import time/tzdata in the operator if its image has no time zones", subject, err)
	}
	return location, nil
}

// parse reads the fields of an expression, which has to have a moment.
func (c *Cron) parse(subject, text string) error {
	if strings.Contains(text, "=") { // the parser panics on some
		return fmt.Errorf("%s: the expression %q has a time zone in the middle: begin with the zone", subject, text)
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return fmt.Errorf("%s: the expression %q can't be read: %w: write five fields such as 0 3 * * *, or a word such as @daily", subject, text, err)
	}
	spec, isSpec := parsed.(*cron.SpecSchedule)
	if !isSpec {
		return c.parseEvery(subject, text)
	}
	spec.Location = c.fields.Location
	c.fields = fields(*spec)
	if c.fields.isEmpty() || !c.hasMoment() {
		return fmt.Errorf("%s: the expression %q has no moment: change its fields", subject, text)
	}
	return nil
}

// parseEvery reads a time between moments. The parser rounds it.
func (c *Cron) parseEvery(subject, text string) error {
	every, err := time.ParseDuration(strings.TrimPrefix(text, "@every "))
	if err != nil || every < time.Second || every%time.Second != 0 {
		return fmt.Errorf("%s: %q is no number of whole seconds: write one, or use a timer", subject, text)
	}
	c.every = every
	return nil
}

func (c *Cron) hasMoment() bool {
	_, ok := c.fields.next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	return ok
}
