package engine

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
)

// unwritten is what a pass couldn't write. The next pass writes it.
type unwritten struct {
	outcome outcome
	// record is the record, and base the text of the record that it is to replace.
	record record.Record
	base   string
}

// outcome is what handlers have done and is still to be written. The zero value is nothing.
type outcome struct {
	// updates change the object, in this order. results are values of status fields, by the ids of handlers.
	updates []update
	results map[string]any
	// reports report conditions.
	reports []func(c *lifecycle.Conditions)
}

// update is a change of the object by a handler.
type update struct {
	handler string
	// apply returns the changed object. It doesn't change its argument.
	apply func(object map[string]any) (map[string]any, error)
}

// isEmpty reports whether there is nothing to write besides the record.
func (o *outcome) isEmpty() bool {
	return len(o.updates) == 0 && len(o.results) == 0 && len(o.reports) == 0
}

// clone returns a copy that shares nothing which an outcome changes.
func (o outcome) clone() outcome {
	return outcome{slices.Clone(o.updates), maps.Clone(o.results), slices.Clone(o.reports)}
}

// updateError is the error of an update that can't be made on the present state of the object.
type updateError struct {
	handler string
	err     error
}

// Error returns the text of the error.
func (e *updateError) Error() string { return "an update can't be made: " + e.err.Error() }

// Unwrap returns the error.
func (e *updateError) Unwrap() error { return e.err }

// setResult sets the result of a handler.
func (o *outcome) setResult(id string, value any) {
	if o.results == nil {
		o.results = map[string]any{}
	}
	o.results[id] = value
}

// updated returns the object as the updates change it. It doesn't change object. The error is an *updateError.
func (o *outcome) updated(object map[string]any) (map[string]any, error) {
	for _, u := range o.updates {
		changed, err := u.apply(object)
		if err != nil {
			return nil, &updateError{u.handler, err}
		}
		object = changed
	}
	return object, nil
}

// authors returns the handlers that have set something that the cluster may refuse.
func (o *outcome) authors() map[string]bool {
	authors := map[string]bool{}
	for _, u := range o.updates {
		authors[u.handler] = true
	}
	for id := range o.results {
		authors[id] = true
	}
	return authors
}

// drop drops what handlers have set.
func (o *outcome) drop(authors map[string]bool) {
	o.updates = slices.DeleteFunc(slices.Clone(o.updates), func(u update) bool { return authors[u.handler] })
	o.results = maps.Clone(o.results)
	maps.DeleteFunc(o.results, func(id string, _ any) bool { return authors[id] })
}

// withResults returns the status with the results: a map is merged into the field of its handler, another value
// replaces it. It doesn't change its argument.
func (o *outcome) withResults(status map[string]any) map[string]any {
	if len(o.results) == 0 {
		return status
	}
	next := maps.Clone(status)
	if next == nil {
		next = map[string]any{}
	}
	for id, value := range o.results {
		fields, isMap := value.(map[string]any)
		present, wasMap := next[id].(map[string]any)
		if isMap && wasMap {
			merged := maps.Clone(present)
			maps.Copy(merged, fields)
			value = merged
		}
		next[id] = value
	}
	return next
}
