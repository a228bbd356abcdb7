package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// table has the objects and their results.
type table struct{ rows []*row }

// row is one object.
type row struct {
	ref deploy.Ref
	// place is its place in the input; empty for a member of the set that isn't in the input.
	place string
	// generate is the prefix of its name, if the cluster generates the name.
	generate      string
	action, state string
	err           error
	settled       bool
	// remarks are warnings of the cluster, and the fields that were taken from others or left to them.
	remarks []string
}

// Actions of rows in addition to the actions of deploy.
const (
	interrupted deploy.Action = "interrupted"
	notBegun    deploy.Action = "not begun"
)

func newTable(manifests []manifest) *table {
	t := &table{}
	for _, m := range manifests {
		r := &row{ref: deploy.RefOf(m.object), place: m.place, generate: m.object.GetGenerateName()}
		if r.ref.Name == "" && r.generate == "" {
			r.state = m.place // nothing else identifies it
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// row returns the row of an object, and adds it if there is none. A manifest may leave out the namespace. Results of
// objects without a name come in the order of the rows.
func (t *table) row(ref deploy.Ref) *row {
	for _, r := range t.rows {
		if r.ref == ref && (ref.Name != "" || r.action == "") {
			return r
		}
	}
	for _, r := range t.rows {
		if r.action == "" && r.mayBe(ref) {
			r.ref = ref
			return r
		}
	}
	r := &row{ref: ref}
	t.rows = append(t.rows, r)
	return r
}

// mayBe reports whether ref may be the cluster's reference for the object of this row.
func (r *row) mayBe(ref deploy.Ref) bool {
	if r.ref.Kind.GroupKind() != ref.Kind.GroupKind() || r.ref.Namespace != "" && r.ref.Namespace != ref.Namespace {
		return false
	}
	return r.ref.Name == ref.Name || r.ref.Name == "" && r.generate != "" && strings.HasPrefix(ref.Name, r.generate)
}

// take records the result for the object.
func (r *row) take(action deploy.Action, err error) {
	var owned *deploy.OwnedError
	switch {
	case errors.Is(err, context.Canceled):
		// An earlier result stays. An interrupted request may have reached the cluster or not.
		r.action = cmp.Or(r.action, string(interrupted))
		return
	case errors.As(err, &owned):
		action = deploy.Conflicted
	}
	r.action, r.err = string(action), err
}

// remarksOf returns the remarks on a result that aren't errors.
func remarksOf(result deploy.Result) []string {
	var remarks []string
	for _, warning := range result.Warnings {
		remarks = append(remarks, "warning: "+warning)
	}
	for _, field := range result.Taken {
		remarks = append(remarks, field.Field+" was taken from "+field.Manager)
	}
	for _, field := range result.Kept {
		remarks = append(remarks, field.Field+" was left to "+field.Manager)
	}
	return remarks
}

func (r *row) text() string {
	return strings.TrimRight(fmt.Sprintf("%-50s %-11s %s", r.name(), r.action, r.state), " ")
}

// name returns a name for the object, even if its manifest is incomplete.
func (r *row) name() string {
	ref := r.ref
	ref.Kind.Kind = cmp.Or(ref.Kind.Kind, "(no kind)")
	ref.Name = cmp.Or(ref.Name, r.generate, "(no name)")
	return ref.String()
}

// count counts the rows with an action.
func (t *table) count(action deploy.Action) int {
	n := 0
	for _, r := range t.rows {
		if cmp.Or(r.action, string(notBegun)) == string(action) {
			n++
		}
	}
	return n
}

// summary returns the number of objects for each result.
func (t *table) summary() string {
	var parts []string
	for _, action := range []deploy.Action{deploy.Created, deploy.Configured, deploy.Unchanged, deploy.Replaced, deploy.Recreated,
		deploy.Removed, deploy.Skipped, deploy.Conflicted, deploy.Failed, interrupted, notBegun} {
		if n := t.count(action); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no objects")
}

// places returns the places of the objects that ref may refer to.
func (t *table) places(ref deploy.Ref) string {
	var places []string
	for _, r := range t.rows {
		if r.place != "" && r.mayBe(ref) {
			places = append(places, r.place)
		}
	}
	return strings.Join(places, ", ")
}
