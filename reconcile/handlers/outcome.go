package handlers

import (
	"maps"

	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
)

// outcome is what handlers have done and is still to be written. The zero value is nothing.
type outcome struct {
	// record is the record, and base the text of the record that it is to replace.
	record record.Record
	base   string
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

// take adds what an earlier pass couldn't write.
func (o *outcome) take(earlier *outcome) {
	if earlier == nil {
		return
	}
	o.updates, o.results, o.reports = earlier.updates, maps.Clone(earlier.results), earlier.reports
}

// setResult sets the result of a handler.
func (o *outcome) setResult(id string, value any) {
	if o.results == nil {
		o.results = map[string]any{}
	}
	o.results[id] = value
}

// updated returns the object as the updates change it. It doesn't change object.
func (o *outcome) updated(object map[string]any) (map[string]any, error) {
	var err error
	for _, u := range o.updates {
		if object, err = u.apply(object); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// withResults returns the status with the results: a map is merged into the field of its handler, another value replaces
// it. It doesn't change its argument.
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
