package config

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// oper8Duration is how oper8 writes durations: 12hr13m14s, and each part of that.
var oper8Duration = regexp.MustCompile(`^(\d+hr)?(\d+m)?(\d+(\.\d*)?s)?$`)

// duration is the value of a flag: as Go writes it, or as oper8 does. Empty is none, as in oper8 (spec: watch 13, 16,
// mistake 9).
type duration time.Duration

// DurationVar adds a flag that is read by ParseDuration, as the durations of Config are: name says where, value what it is by default.
func DurationVar(set *pflag.FlagSet, at *time.Duration, name string, value time.Duration, usage string) {
	*at = value
	set.Var((*duration)(at), name, usage)
}

// ParseDuration reads a duration as Go writes it, or as oper8 does: 12hr13m14s. Empty is none.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil && oper8Duration.MatchString(text) {
		parsed, err = time.ParseDuration(strings.Replace(text, "hr", "h", 1))
	}
	if err != nil {
		return 0, errors.New("it is no duration: write such as 90s, 500ms, 1h30m or 1hr30m, and 24h for a day")
	}
	return parsed, nil
}

// Set implements the flags' Value.
func (d *duration) Set(text string) error {
	parsed, err := ParseDuration(text)
	if err == nil {
		*d = duration(parsed)
	}
	return err
}

// String implements the flags' Value. None is what the help shows no default for.
func (d *duration) String() string {
	if *d == 0 {
		return "0"
	}
	return time.Duration(*d).String()
}

// Type implements the flags' Value.
func (d *duration) Type() string { return "duration" }
