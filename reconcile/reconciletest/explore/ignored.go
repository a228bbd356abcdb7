package explore

import (
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/runtime"
)

// judgedCalls leaves out the calls about ignored objects, the changes of ignored fields, and the calls that change
// nothing else.
func (o *options) judgedCalls(calls []reconciletest.Call) (judged []reconciletest.Call) {
	if len(o.ignored) == 0 {
		return calls
	}
	for _, call := range calls {
		if !o.ignoresCall(call) {
			call.Changes = o.judgedChanges(call)
			judged = append(judged, call)
		}
	}
	return judged
}

// ignoresCall reports whether a call is about an ignored object, or a write that changes only ignored fields, and
// perhaps the annotation with the hash of them.
func (o *options) ignoresCall(call reconciletest.Call) bool {
	if o.ignoresObject(call.Ref) {
		return true
	}
	judged := o.judgedChanges(call)
	return len(judged) < len(call.Changes) && !slices.ContainsFunc(judged, func(change deploy.Change) bool { return !isHash(change) })
}

func (o *options) judgedChanges(call reconciletest.Call) []deploy.Change {
	return slices.DeleteFunc(slices.Clone(call.Changes), func(change deploy.Change) bool { return o.ignoresChange(call.Ref, change) })
}

// ignoresChange reports whether a change is of an ignored field, or differs only in ignored fields.
func (o *options) ignoresChange(ref deploy.Ref, change deploy.Change) bool {
	at := namesIn(change.Path)
	before, after := runtime.DeepCopyJSONValue(change.Before), runtime.DeepCopyJSONValue(change.After)
	for _, p := range o.ignored {
		if !p.means(ref) {
			continue
		}
		if within(at, p.field) {
			return true
		}
		if below := behind(p.field, at); len(below) > 0 {
			before, after = cutOut(before, below), cutOut(after, below)
		}
	}
	return reflect.DeepEqual(before, after)
}

// ignoresField reports whether a field is ignored, or what is around it. field is a path, such as
// status.conditions[Ready].
func (o *options) ignoresField(ref deploy.Ref, field string) bool {
	at := namesIn(field)
	return slices.ContainsFunc(o.ignored, func(p exception) bool { return p.means(ref) && within(at, p.field) })
}

// ignoresPart reports whether a field, or a part of it, is ignored.
func (o *options) ignoresPart(ref deploy.Ref, field string) bool {
	at := namesIn(field)
	return o.ignoresField(ref, field) || slices.ContainsFunc(o.ignored, func(p exception) bool { return p.means(ref) && len(behind(p.field, at)) > 0 })
}

// within reports whether the names on the way to a field lead through another one. A dot in a name doesn't count.
func within(way, through []string) bool {
	return strings.HasPrefix(strings.Join(way, ".")+".", strings.Join(append(slices.Clone(through), ""), "."))
}

// behind returns the names that follow in a field after the way to another one, none if it isn't on the way.
func behind(field, way []string) []string {
	for n := range field {
		if strings.Join(field[:n], ".") == strings.Join(way, ".") {
			return field[n:]
		}
	}
	return nil
}

// namesIn returns the names on the way to a field: in the notation of a deploy.Change, or of Ignore.
func namesIn(path string) (way []string) {
	for _, part := range fieldParts.FindAllString(elementKeys.ReplaceAllString(path, "[$1]"), -1) {
		way = append(way, strings.Trim(part, "[]"))
	}
	return way
}
