package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// table is the objects and what has become of them.
type table struct{ rows []*row }

// row is one object.
type row struct {
	ref deploy.Ref
	// place is where it was given; empty for a member of the set that wasn't.
	place string
	// generate is what its name begins with when the cluster makes it up.
	generate      string
	action, state string
	err           error
	settled       bool
	// remarks are what the cluster said about it, and which fields were taken from others or left to them.
	remarks []string
}

// Actions of rows beside those of deploy.
const (
	interrupted deploy.Action = "interrupted"
	notBegun    deploy.Action = "not begun"
)

func newTable(manifests []manifest) *table {
	t := &table{}
	for _, m := range manifests {
		r := &row{ref: deploy.RefOf(m.object), place: m.place, generate: m.object.GetGenerateName()}
		if r.ref.Name == "" && r.generate == "" {
			r.state = m.place // nothing else tells it from others
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// row finds the row of an object, which is there or new. A manifest may leave the namespace out, and objects
// without a name come one after the other.
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

// mayBe tells whether the cluster may call the object of a manifest so.
func (r *row) mayBe(ref deploy.Ref) bool {
	if r.ref.Kind.GroupKind() != ref.Kind.GroupKind() || r.ref.Namespace != "" && r.ref.Namespace != ref.Namespace {
		return false
	}
	return r.ref.Name == ref.Name || r.ref.Name == "" && r.generate != "" && strings.HasPrefix(ref.Name, r.generate)
}

// take notes what became of the object.
func (r *row) take(action deploy.Action, err error) {
	var owned *deploy.OwnedError
	switch {
	case errors.Is(err, context.Canceled):
		// What was done stays. What was on its way may have arrived or not.
		r.action = cmp.Or(r.action, string(interrupted))
		return
	case errors.As(err, &owned):
		action = deploy.Conflicted
	}
	r.action, r.err = string(action), err
}

// remarksOf are what there is to say about an object that isn't an error.
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

// name names the object, also one that leaves out what a name is made of.
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

// summary is how many objects had which end.
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

// places are where objects were given that ref may mean.
func (t *table) places(ref deploy.Ref) string {
	var places []string
	for _, r := range t.rows {
		if r.place != "" && r.mayBe(ref) {
			places = append(places, r.place)
		}
	}
	return strings.Join(places, ", ")
}
