package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/controller"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/joint"
)

// Controllers are the controllers of some definitions. The zero value has none. It is safe for concurrent use, and must
// not be copied.
type Controllers struct {
	mu sync.Mutex
	// files are the definitions of files, and objects those that are objects of the cluster.
	files   []*definition.Controller
	objects map[deploy.Ref]*definition.Controller
	// changed gets something after the definitions have changed, nil before somebody looks.
	changed chan struct{}
}

// ReadFiles adds the definitions in YAML and JSON files, and in the files of folders, without subfolders: objects of
// the kinds CompositeController and DecoratorController of metacontroller.k8s.io/v1alpha1. Objects of other groups are
// ignored. The error has all mistakes of all files, with the path of each field, and then nothing is added. No
// definition at all is a mistake.
func (c *Controllers) ReadFiles(paths ...string) error {
	all, err := definition.ReadFiles(paths...)
	if len(all) == 0 && err == nil {
		err = fmt.Errorf("%q: no CompositeController or DecoratorController of %s: name the files that have some", paths, definition.GroupVersion)
	}
	errs := []error{err}
	for i, one := range all {
		errs = append(errs, checkParents(one, append(c.all(), all[:i]...)))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = append(c.files, all...)
	c.notify()
	return nil
}

// checkParents returns an error if a CompositeController would have the same parents as one of others.
func checkParents(one *definition.Controller, others []*definition.Controller) error {
	for _, other := range others {
		isSame := one.Style == definition.Composite && other.Style == definition.Composite && one.Parents[0].Resource == other.Parents[0].Resource
		if isSame && (one.Parents[0].LabelSelector == nil || other.Parents[0].LabelSelector == nil) {
			return fmt.Errorf("%s: %s of %s has a controller, %s: remove one of the definitions, or give both a labelSelector",
				one.Name(), one.Parents[0].Resource.Resource, one.Parents[0].APIVersion, other.Object.GetName())
		}
	}
	return nil
}

// Names returns the names of the controllers, in order.
func (c *Controllers) Names() []string {
	var names []string
	for _, one := range c.all() {
		names = append(names, one.Object.GetName())
	}
	slices.Sort(names)
	return names
}

// all returns the definitions.
func (c *Controllers) all() []*definition.Controller {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.files)
	for _, one := range c.objects {
		all = append(all, one)
	}
	slices.SortFunc(all[len(c.files):], func(a, b *definition.Controller) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// workers is how many parents of a kind are reconciled at once: a hook that doesn't respond holds up its own parents,
// and no others.
const workers = 4

// Selector selects the kinds of the parents of the controllers: for Operator.DriveKinds, together with Reconciler.
func (c *Controllers) Selector() kinds.Selector {
	return kinds.Selector{
		Version: "*",
		Where:   func(kind deploy.ServedKind) bool { return len(c.of(kind)) > 0 },
		Basis:   func(kind deploy.ServedKind) any { return basisOf(c.of(kind)) },
		Options: func(deploy.ServedKind) []watch.Option { return []watch.Option{watch.Workers(workers)} },
		Changed: c.changes(),
		Finalizers: func(kind deploy.ServedKind) (names []string) {
			for _, one := range c.of(kind) {
				names = append(names, controller.Finalizer(one.Controller))
			}
			return names
		},
	}
}

// Reconciler returns the reconciler of a kind of parents: for Operator.DriveKinds. It reads the certificates and
// credentials that the definitions name, once. The children must be of kinds that are served. Each controller has a
// field manager of its own, such as hooks/CompositeController/cats.
func (c *Controllers) Reconciler(ctx context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error) {
	var all joint.Reconciler
	var errs []error
	for _, one := range c.of(kind) {
		made, err := controller.Reconciler(ctx, env, one.Controller, one.parents)
		member, ok := made.(joint.Member)
		if err == nil && !ok {
			err = fmt.Errorf("%s: a %T can't be joined with others", one.Name(), made)
		}
		all, errs = append(all, member), append(errs, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no controller has these parents", kind.Kind)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// ruled is a definition that has a kind of parents, with the rule that selects them.
type ruled struct {
	*definition.Controller
	parents definition.ParentRule
}

// of returns the definitions that have a kind of parents.
func (c *Controllers) of(kind deploy.ServedKind) (all []ruled) {
	wanted := definition.Resource{APIVersion: kind.Kind.GroupVersion().String(), Resource: kind.Resource}
	for _, one := range c.all() {
		for _, parents := range one.Parents {
			if parents.Resource == wanted {
				all = append(all, ruled{one, parents})
			}
		}
	}
	return all
}

// basisOf returns what tells definitions from their other versions.
func basisOf(all []ruled) string {
	var text strings.Builder
	for _, one := range all {
		fmt.Fprintf(&text, "%s %s %d\n", one.Name(), one.Object.GetUID(), one.Object.GetGeneration())
	}
	return text.String()
}
