package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Error is all that is wrong with settings.
type Error struct {
	// Problems say where each was said, what is wrong, and what to do.
	Problems []string
}

// Error implements error.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}
	return fmt.Sprintf("%d settings are wrong:\n  %s", len(e.Problems), strings.Join(e.Problems, "\n  "))
}

// Load reads the environment, given as os.Environ does, and the file, after the flags were parsed, and returns what all that
// comes to. The error is an *Error.
func (s *Settings) Load(environ []string) (Config, error) {
	s.Flags()
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && s.origins[f.Name].Source == Program { // parsed before it was known here
			s.origins[f.Name] = Origin{Flag, "--" + f.Name, 0}
		}
	})
	s.readEnvironment(environ)
	if s.oper8 {
		s.readOper8(environ)
	}
	s.readFile()
	s.defaultOper8Namespace()
	s.check()
	s.warnOfOldNames()
	if len(s.problems) > 0 {
		return Config{}, &Error{slices.Clone(s.problems)}
	}
	for key := range s.refused { // and tolerated
		s.forget(key)
	}
	return s.config.clone(), nil
}
