package size

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Components sets the values of the table in the workloads of all components of a controller whose names are in the
// table, except in objects that are Finished. The values win over what the objects have. It returns an error if the
// table or an option can't be used.
//
// The field "sizes" of Session.Config is merged over the table (Layer), so that a configuration, a ConfigMap or the
// field configOverrides of a resource can change it. A number in place of the values changes only the replicas of the
// table. If the field changes the table, it is validated like the table, and a mistake in it is a request.Configuration
// error. A size that the table doesn't have, an override that can't be, and a
// container that no workload of the component has are request.Configuration errors, too. They fail the components that
// are in the table, and no others.
//
// Scalers keep their numbers, see the documentation of the package.
func Components(table *Table, options ...Option) (reconcile.Option, error) {
	z := &sizer{settings: newSettings(options), table: table}
	if err := z.validate(table); err != nil {
		return nil, err
	}
	return reconcile.ReviseObjects(z.revise), nil
}

type sizer struct {
	settings
	table *Table
	// choices are those of the sessions that run, by *reconcile.Session.
	choices sync.Map
}

// choiceOf returns what the resource of a session chooses. It is found out once for each session.
func (z *sizer) choiceOf(s *reconcile.Session) choice {
	choose := func() choice {
		s.Cleanup(func() { z.choices.Delete(s) })
		table, err := z.table.layered(z.settings, s.Config())
		if err != nil {
			return choice{table: table, err: err}
		}
		return z.choose(table, s.Resource().Object)
	}
	once, _ := z.choices.LoadOrStore(s, sync.OnceValue(choose))
	return once.(func() choice)()
}

// revise is called for each object of each component.
func (z *sizer) revise(ctx context.Context, c *reconcile.Component, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	_, _, known := podtemplate.Find(obj)
	if !known {
		return obj, nil
	}
	chosen := z.choiceOf(c.Session())
	switch {
	case !chosen.table.has(c.Name()):
		return obj, nil
	case chosen.err != nil:
		return nil, chosen.err
	}
	values := chosen.of(c.Name())
	if err := checkContainers(c, obj, values); err != nil {
		return nil, err
	}
	override := chosen.overrides[c.Name()].Replicas
	return z.set(ctx, c, obj, values, override != nil && *override == 0)
}

// set sets values in a workload. zero: the resource itself overrides the number of replicas by 0.
func (z *sizer) set(ctx context.Context, c *reconcile.Component, obj *unstructured.Unstructured, values Values, zero bool) (*unstructured.Unstructured, error) {
	s, kind := c.Session(), obj.GroupVersionKind().GroupKind()
	ref := deploy.RefOf(obj)
	ref.Namespace = cmp.Or(ref.Namespace, s.Namespace(), s.Manager().Namespace())
	if hasReplicas[kind] {
		z := scaling{session: s, ref: ref, workload: values.setResources(obj), wanted: values.Replicas, zero: zero, scaler: z.scalerOf(c, obj)}
		return z.set(ctx)
	}
	if podtemplate.Once(kind) && ref.Name != "" {
		// The resources of a Pod and of a Job can't be changed: they keep those that they have.
		if err := s.Own(ctx, ref.Kind); err != nil {
			return nil, err
		}
		live, err := s.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		if live != nil && live.GetDeletionTimestamp() == nil {
			return values.as(obj, live), nil
		}
	}
	return values.Set(obj), nil
}

// checkContainers returns an error if the values name a container that no workload of c has.
func checkContainers(c *reconcile.Component, obj *unstructured.Unstructured, values Values) error {
	if len(values.Containers) == 0 {
		return nil
	}
	names := containersOf(obj)
	for _, other := range c.Objects() {
		names = append(names, containersOf(other)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range slices.Sorted(maps.Keys(values.Containers)) {
		if !slices.Contains(names, name) {
			return request.Configuration("size of component %s: containers.%s: no workload has this container: use one of %s", c.Name(), name, strings.Join(names, ", "))
		}
	}
	return nil
}
