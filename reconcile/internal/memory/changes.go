package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
)

// mostNames bounds how many objects Changes name.
const mostNames = 5

// Changes are the objects of a resource that were written since a time. The zero value is no change.
type Changes struct {
	Began                     time.Time
	Created, Changed, Deleted int
	// names are the first objects, and more is the number of the others.
	names []string
	more  int
}

// Any reports whether there is any change.
func (c Changes) Any() bool { return c.Created+c.Changed+c.Deleted > 0 }

// Name adds the name of an object that was written.
func (c *Changes) Name(ref deploy.Ref) {
	c.add(ref.Kind.Kind + " " + ref.Name)
}

func (c *Changes) add(name string) {
	switch {
	case slices.Contains(c.names, name):
	case len(c.names) < mostNames:
		c.names = append(c.names, name)
	default:
		c.more++
	}
}

// Attributes returns the attributes for a line in the log: the counts that aren't zero, and the names.
func (c Changes) Attributes() (all []any) {
	for _, one := range []struct {
		name  string
		count int
	}{{"created", c.Created}, {"changed", c.Changed}, {"deleted", c.Deleted}} {
		if one.count > 0 {
			all = append(all, one.name, one.count)
		}
	}
	names := c.names
	if c.more > 0 {
		names = append(slices.Clip(names), fmt.Sprintf("and %d more", c.more))
	}
	if len(names) > 0 {
		all = append(all, "objects", strings.Join(names, ", "))
	}
	return all
}

// Changed adds changes to those of the rollout that is under way, or begins one at the time Began of these changes.
func (r *Resource) Changed(c Changes) {
	if !r.changes.Any() {
		r.changes = c
		return
	}
	r.changes.Created += c.Created
	r.changes.Changed += c.Changed
	r.changes.Deleted += c.Deleted
	for _, name := range c.names {
		r.changes.add(name)
	}
	r.changes.more += c.more
}

// RolledOut ends the rollout that is under way, and returns its changes.
func (r *Resource) RolledOut() Changes {
	done := r.changes
	r.changes = Changes{}
	return done
}
