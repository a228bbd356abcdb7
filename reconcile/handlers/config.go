package handlers

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
	"k8s.io/apimachinery/pkg/util/validation"
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
		if len(validation.IsQualifiedName(name)) > 0 || !strings.Contains(name, "/") {
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

// Stateless stores no record on the objects, for kinds whose metadata the operator may not or should not change. What
// was handled is remembered by the process: objects that exist when the process starts count as handled as they are, so
// that changes while no operator runs are missed, and handlers that had failed aren't called again. A finalizer for
// handlers of Delete is still set. Handlers of Cron, and the option Formerly, need a record.
func Stateless() KindOption { return func(c *config) { c.Stateless = true } }
