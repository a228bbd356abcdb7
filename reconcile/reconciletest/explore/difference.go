package explore

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest/internal/changes"
)

// difference is a field, or with an empty path a whole object, that two states don't have in common.
type difference struct {
	object string
	deploy.Change
}

func (d difference) String() string {
	change := d.Change
	change.Path = elementKeys.ReplaceAllString(d.Path, "[$1]")
	switch {
	case strings.HasPrefix(d.object, "Secret ") && (strings.HasPrefix(d.Path, ".data") || strings.HasPrefix(d.Path, ".stringData")):
		return d.object + " " + change.Path + ": another value"
	case d.Path != "":
		return d.object + " " + change.String()
	case d.Before == nil:
		return d.object + " is there"
	}
	return d.object + " isn't there"
}

// key identifies the field in every execution. An element of a list that only one state has isn't named, because its
// name may differ in each execution.
func (d difference) key() string {
	path := d.Path
	if at := strings.LastIndex(path, "["); at >= 0 && strings.HasSuffix(path, "]") && (d.Before == nil || d.After == nil) {
		path = path[:at] + "[]"
	}
	return d.object + " " + path
}

// elementKeys matches the key of an element of a list in a path, such as [type="Ready"].
var elementKeys = regexp.MustCompile(`\[\w+="?([^"\]]*)"?\]`)

// compare returns the differences of two states, in the order of the objects.
func compare(want, got state) (all []difference) {
	for _, object := range slices.Sorted(maps.Keys(union(want, got))) {
		before, after := want[object], got[object]
		switch {
		case before == nil:
			all = append(all, difference{object, deploy.Change{After: true}})
		case after == nil:
			all = append(all, difference{object, deploy.Change{Before: true}})
		case !reflect.DeepEqual(before, after):
			for _, change := range changes.Between(before, after) {
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
