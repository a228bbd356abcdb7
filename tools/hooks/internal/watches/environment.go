package watches

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// MaxVerbosity is the highest verbosity of a run, at which it writes the most.
const MaxVerbosity = 7

// reference is a reference to a variable of the environment.
var reference = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// expand replaces the references to variables that are set.
func expand(text string, environment Lookup) string {
	return reference.ReplaceAllStringFunc(text, func(whole string) string {
		if value, ok := environment(strings.Trim(whole, "${}")); ok {
			return value
		}
		return whole
	})
}

// Workers returns how many resources of a kind are reconciled at once: the value of the variable
// MAX_CONCURRENT_RECONCILES_<KIND>_<GROUP>, or of WORKER_<KIND>_<GROUP>, in upper case and with underscores in the place
// of dots, or the given number if neither is set. A value that isn't a positive number is an error.
func Workers(kind schema.GroupVersionKind, otherwise int, environment Lookup) (int, error) {
	for _, prefix := range []string{"MAX_CONCURRENT_RECONCILES", "WORKER"} {
		if n, ok, err := number(prefix, kind, 1, 1<<16, environment); ok || err != nil {
			return n, err
		}
	}
	return otherwise, nil
}

// Verbosity returns the verbosity of the runs of a kind: the value of the variable ANSIBLE_VERBOSITY_<KIND>_<GROUP>, or
// the given number if it isn't set. A value that isn't a number from 0 to MaxVerbosity is an error.
func Verbosity(kind schema.GroupVersionKind, otherwise int, environment Lookup) (int, error) {
	if n, ok, err := number("ANSIBLE_VERBOSITY", kind, 0, MaxVerbosity, environment); ok || err != nil {
		return n, err
	}
	return otherwise, nil
}

// number returns the number that a variable for a kind has, and reports whether the variable is set.
func number(prefix string, kind schema.GroupVersionKind, least, most int, environment Lookup) (n int, isSet bool, err error) {
	name := strings.ToUpper(strings.ReplaceAll(prefix+"_"+kind.Kind+"_"+kind.Group, ".", "_"))
	text, ok := environment(name)
	if !ok {
		return 0, false, nil
	}
	n, err = strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, true, fmt.Errorf("environment variable %s: %q: must be a number from %d to %d", name, text, least, most)
	}
	return n, true, nil
}
