package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operkit/operkit/operator/config"
)

// Error holds all mistakes in settings.
type Error struct {
	// Problems say where each mistake is, what is wrong, and what to do.
	Problems []string
}

// Error implements error.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}
	return fmt.Sprintf("%d settings are wrong:\n  %s", len(e.Problems), strings.Join(e.Problems, "\n  "))
}

// ExitCode returns the exit code of a command with wrong settings, the same as for wrong arguments.
func (e *Error) ExitCode() int { return 2 }

// Load reads the environment, in the form of os.Environ, and the file, and returns all settings. Call it after the
// flags were parsed. The error is an *Error.
func (s *Settings) Load(environ []string) (config.Config, error) {
	s.Flags()
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && s.origins[f.Name].Source == Program { // parsed before Flags wrapped its value
			s.origins[f.Name] = Origin{Flag, "--" + f.Name, 0}
		}
	})
	s.readEnvironment(environ)
	if s.Oper8 {
		s.readOper8(environ)
	}
	s.readFile()
	s.defaultOper8Namespace()
	s.check()
	s.warnOfOldNames()
	if len(s.problems) > 0 {
		return config.Config{}, &Error{slices.Clone(s.problems)}
	}
	for key := range s.refused { // Tolerate was called
		s.forget(key)
	}
	return clone(s.config), nil
}
