package handlers

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// KindOption is an option of New. nil is ignored.
type KindOption func(*config)

// config is what the options of New set.
type config struct {
	finalizer string
	ignored   [][]string
	stateless bool
	kopf      kopfMarks
	errs      []error
}

// Finalizer sets the name of the finalizer. The default is <domain>/<operator>, such as
// operkit.dev/claims: the domain and the field manager of the manager.
func Finalizer(name string) KindOption {
	return func(c *config) {
		if faults := validation.IsQualifiedName(strings.ToLower(name)); len(faults) > 0 || !strings.Contains(name, "/") {
			c.errs = append(c.errs, fmt.Errorf("finalizer %q: use a domain, a slash and a name", name))
		}
		c.finalizer = name
	}
}

// Ignoring leaves fields out of the essence: a change of them is no update. Paths are names with dots between them, such
// as "spec.replicas".
func Ignoring(paths ...string) KindOption {
	return func(c *config) {
		for _, path := range paths {
			c.ignored = append(c.ignored, splitPath(path))
		}
	}
}

// Stateless stores no record on the objects, for kinds whose metadata the operator may not or should not change. What
// was handled is remembered by the process: objects that exist when the process starts count as handled as they are, so
// that changes while no operator runs are missed, and handlers that had failed aren't called again. A finalizer for
// handlers of Delete is still set.
func Stateless() KindOption { return func(c *config) { c.stateless = true } }
