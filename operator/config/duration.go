package config

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// oper8Duration matches durations of oper8: 12hr13m14s, and each part of that.
var oper8Duration = regexp.MustCompile(`^(\d+hr)?(\d+m)?(\d+(\.\d*)?s)?$`)

// duration is the value of a flag that is read by ParseDuration.
type duration time.Duration

// DurationVar adds a flag for a duration that ParseDuration reads, as in Config. The value is stored in at.
func DurationVar(set *pflag.FlagSet, at *time.Duration, name string, value time.Duration, usage string) {
	*at = value
	set.Var((*duration)(at), name, usage)
}

// ParseDuration reads a duration as in Go, such as 1h30m, or as in oper8, such as 1hr30m. An empty text is 0.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil && oper8Duration.MatchString(text) {
		parsed, err = time.ParseDuration(strings.Replace(text, "hr", "h", 1))
	}
	if err != nil {
		return 0, errors.New("invalid duration: write for example 90s, 500ms, 1h30m or 1hr30m, and 24h for a day")
	}
	return parsed, nil
}

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	parsed, err := ParseDuration(text)
	if err == nil {
		*d = duration(parsed)
	}
	return err
}

// String implements pflag.Value. The help shows no default if it is 0.
func (d *duration) String() string {
	if *d == 0 {
		return "0"
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *duration) Type() string { return "duration" }
