package dryrun

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// rule is a part of the objects of a kind that a server lets no update change.
type rule struct {
	// at is the path of the part, such as spec.selector.
	at string
	// but are the paths in it that may change all the same; [*] means every item of a list.
	but []string
	// once: it may be set where it wasn't.
	once bool
	// when limits the rule to some objects; nil: all.
	when func(u update) bool
	// as is the path by which the server refuses the change, "" for at.
	as string
	// forbids are the words of a refusal that is no judgement of the new value; without them the value is invalid,
	// for what says is: "" means that the field is immutable.
	forbids, says string
}

// fieldImmutable is what a server says of most fields that can't be changed.
const fieldImmutable = "field is immutable"

// rules are what a server checks of updates of a kind.
type rules struct {
	fixed []rule
	// also checks what can't be said as a rule; nil: nothing.
	also func(u update) field.ErrorList
}

// update is a change of an object that is to be compared with the rules of its kind.
type update struct {
	live, next map[string]any
	object     smd.TypeRef
	comparer
}

// immutable returns what no server lets an update change, and the update of live to next does.
func (c *Cluster) immutable(d *declaration, live, next *unstructured.Unstructured) field.ErrorList {
	of, ok := immutableFields[d.kind.GroupKind()]
	if !ok {
		return nil
	}
	u := update{live: live.Object, next: next.Object, comparer: comparer{zeros: c.kinds.builtin.zeros}}
	if object, err := d.object(); err == nil {
		u.types, u.object = object.Schema, object.TypeRef
	}
	var problems field.ErrorList
	for _, r := range of.fixed {
		if problem := r.check(u); problem != nil {
			problems = append(problems, problem)
		}
	}
	if of.also != nil {
		problems = append(problems, of.also(u)...)
	}
	return problems
}

func (r rule) check(u update) *field.Error {
	if r.when != nil && !r.when(u) || r.once && isZeroValue(valueAt(u.live, r.at)) || !u.changes(r.at, r.but...) {
		return nil
	}
	path := r.at
	if r.as != "" {
		path = r.as
	}
	switch {
	case r.forbids != "":
		return field.Forbidden(field.NewPath(path), r.forbids)
	case r.says != "":
		return field.Invalid(field.NewPath(path), valueAt(u.next, r.at), r.says)
	}
	return field.Invalid(field.NewPath(path), valueAt(u.next, r.at), fieldImmutable)
}

// changes reports whether the update changes what a path leads to, other than in the paths but below it.
func (u update) changes(path string, but ...string) bool {
	before, after, ref := u.live, u.next, u.object
	if value := valueAt(before, path); value != nil && alike(value, valueAt(after, path)) {
		return false
	}
	names := strings.Split(path, ".")
	last := len(names) - 1
	for _, name := range names[:last] {
		before, after, ref = mapAt(before, name), mapAt(after, name), u.field(ref, name)
	}
	var except excepted
	for _, name := range but {
		except = append(except, strings.Split(names[last]+"."+name, "."))
	}
	return !u.sameField(before, after, names[last], ref, except)
}

func isZeroValue(value any) bool {
	return value == nil || value == "" || value == false || value == int64(0)
}
