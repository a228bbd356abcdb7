package handlers

import (
	"fmt"
	"regexp"

	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
)

// KindOption is an option of New. nil is ignored.
type KindOption func(*config)

// config is what the options of New set.
type config struct {
	engine.Config
	errs []error
}

func (c *config) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// Finalizer sets the name of the finalizer. The default is <domain>/<operator>, such as
// operkit.dev/claims: the domain and the field manager of the manager.
func Finalizer(name string) KindOption {
	return func(c *config) {
		if !lifecycle.IsFinalizer(name) {
			c.fail("finalizer %q: not a valid name: use a domain, a slash and a name, such as example.dev/claims", name)
		}
		c.Finalizer = name
	}
}

// Ignoring leaves fields out of the essence: a change of them is no update. Paths are as for InField, such as
// "spec.replicas". A handler of updates can't be about an ignored field.
func Ignoring(paths ...string) KindOption {
	return func(c *config) {
		for _, path := range paths {
			keys, err := fieldpath.Parse(path)
			if err != nil {
				c.fail("ignoring: %w", err)
				continue
			}
			c.Ignored = append(c.Ignored, keys)
		}
	}
}

// RecordInStatus keeps the record in a field of the status instead of an annotation, for handlers that must not be
// called again for an object that somebody has replaced: `kubectl replace` drops the annotations, and leaves the
// status. field is one that is used for nothing else. The schema of the kind has to have it, as a string: that is
// proven before the first handler is called, at the cost of one write of the status in each process that handles a new
// object. An object that has a record in the annotation already goes on with that.
func RecordInStatus(field string) KindOption {
	return func(c *config) {
		if !fields.MatchString(field) || field == "conditions" || field == "observedGeneration" {
			c.fail("record in status: field %q: use the name of a field that is used for nothing else, such as handled", field)
		}
		c.StatusField = field
		c.Ignored = append(c.Ignored, []string{"status", field})
	}
}

// fields are names of fields of a status.
var fields = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*$`)

// Stateless stores no record on the objects, for kinds whose metadata the operator may not or should not change. What
// was handled is remembered by the process: objects that exist when the process starts count as handled as they are, so
// that changes while no operator runs are missed, and handlers that had failed aren't called again. A finalizer for
// handlers of Delete is still set. Handlers of Cron, and the option Formerly, need a record.
func Stateless() KindOption { return func(c *config) { c.Stateless = true } }
