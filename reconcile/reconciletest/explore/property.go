package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Always adds a property of the cluster that holds at any moment. It is checked after each write of the operator, and
// when the operator has nothing left to do. holds returns an error that describes what is wrong. It must depend on
// nothing but the State. An object of others may be missing there. It isn't called concurrently. Several
// properties are checked in their order.
func Always(name string, holds func(State) error) Option {
	return func(o *options) { o.properties = append(o.properties, property{name, true, holds}) }
}

// Eventually adds a property that holds whenever the operator has nothing left to do, see Always. It isn't checked
// while a workload is kept from becoming ready.
func Eventually(name string, holds func(State) error) Option {
	return func(o *options) { o.properties = append(o.properties, property{name, false, holds}) }
}

// property is an oracle of the user.
type property struct {
	name   string
	always bool
	holds  func(State) error
}

func (p property) check() error {
	switch {
	case p.name == "":
		return errors.New("property: its name is empty: name what holds")
	case p.holds == nil:
		return fmt.Errorf("property %q: nil function", p.name)
	}
	return nil
}

// broken returns how a property doesn't hold, nil if it holds.
func (p property) broken(s State) *fault {
	err := failure.Guard(func() error { return p.holds(s) })
	switch {
	case err == nil:
		return nil
	case p.always:
		return &fault{"what always holds doesn't: " + p.name, []string{err.Error()}}
	}
	return &fault{"what holds at rest doesn't: " + p.name, []string{err.Error()}}
}

// State is the cluster at one moment, for Always and Eventually. Use it only until the function returns. All properties
// share its objects, which are copies of those in the cluster: don't change them.
type State struct{ at *moment }

// moment is what a State reads, when it is asked for it.
type moment struct {
	witness *witness
	objects []*unstructured.Unstructured
}

// Resource returns the resource that is explored, of two the one that is created first. It is nil before the resource
// is created and after it has gone; one that is being deleted has a deletionTimestamp.
func (s State) Resource() *unstructured.Unstructured {
	l := s.at.witness.trace.life
	for _, obj := range s.Objects() {
		first := !l.paired() || nameOf(obj) == nameOf(l.resource)
		if first && s.at.witness.explores(deploy.RefOf(obj)) && s.at.witness.trace.began[nameOf(obj)] == nil {
			return obj
		}
	}
	return nil
}

// Objects returns all objects in the order in which they were created.
func (s State) Objects() []*unstructured.Unstructured {
	if s.at.objects == nil {
		s.at.objects = s.at.witness.harness.Memory().Objects()
	}
	return slices.Clone(s.at.objects)
}

// Object returns an object by a name such as "Deployment web", "Deployment.apps shop/web" or "Node one", nil if there
// is none. Without a group, any group is meant. Without a namespace, the object is in the namespace of the resource, or
// in none. When the resource is gone, and its sample names no namespace, any namespace is meant.
func (s State) Object(name string) *unstructured.Unstructured {
	kind, object, _ := strings.Cut(name, " ")
	kind, group, grouped := strings.Cut(kind, ".")
	namespace, inNamespace := "", false
	if before, after, found := strings.Cut(object, "/"); found {
		namespace, object, inNamespace = before, after, true
	} else if resource := s.Resource(); resource != nil {
		namespace = resource.GetNamespace()
	} else {
		namespace = s.at.witness.trace.life.resource.GetNamespace()
	}
	for _, obj := range s.Objects() {
		ref := deploy.RefOf(obj)
		placed := ref.Namespace == namespace || !inNamespace && (ref.Namespace == "" || namespace == "")
		if ref.Kind.Kind == kind && (!grouped || ref.Kind.Group == group) && ref.Name == object && placed {
			return obj
		}
	}
	return nil
}

// Now returns the time of the operator.
func (s State) Now() time.Time { return s.at.witness.harness.Now() }
