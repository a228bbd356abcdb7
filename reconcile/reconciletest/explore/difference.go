package explore

import (
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// difference is a field, or with an empty path a whole object, that two states don't have in common.
type difference struct {
	object string
	deploy.Change
}

func (d difference) String() string {
	switch {
	case strings.HasPrefix(d.object, "Secret ") && (strings.HasPrefix(d.Path, ".data") || strings.HasPrefix(d.Path, ".stringData")):
		return d.object + " " + d.Path + ": another value"
	case d.Path != "":
		return d.object + " " + d.Change.String()
	case d.Before == nil:
		return d.object + " is there"
	}
	return d.object + " isn't there"
}

// key identifies the field in every execution.
func (d difference) key() string { return d.object + " " + d.Path }

// compare returns the differences of two states, in the order of the objects.
func compare(want, got state) (all []difference) {
	for _, object := range slices.Sorted(maps.Keys(union(want, got))) {
		before, after := want[object], got[object]
		switch {
		case before == nil:
			all = append(all, difference{object, deploy.Change{After: true}})
		case after == nil:
			all = append(all, difference{object, deploy.Change{Before: true}})
		default:
			for _, change := range deploy.Changes(before, after) {
				all = append(all, difference{object, change})
			}
		}
	}
	return all
}

func union(a, b state) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}
