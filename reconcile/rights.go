package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The verbs that a reconciler needs on kinds that it reads, and on kinds that it applies.
var (
	readVerbs  = []string{"get", "list", "watch"}
	applyVerbs = []string{"get", "list", "watch", "create", "patch", "delete"}
)

// The kinds of claims, and of their classes, which are read to find out whether a claim waits for a Pod.
var (
	claims         = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	storageClasses = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}
)

// Rights implements watch.RightsProvider: it returns what the reconciler needs to be allowed to do with its own kind and
// with the kinds of its Sources. The kinds of components are known when they are rendered.
func (r *Reconciler) Rights() []deploy.Right {
	rights := []deploy.Right{
		{Kind: r.Kind(), Verbs: append(slices.Clone(readVerbs), "patch")},
		{Kind: r.Kind(), Subresource: "finalizers", Verbs: []string{"update"}},
	}
	if !r.options.has(NoStatus) {
		rights = append(rights, deploy.Right{Kind: r.Kind(), Subresource: "status", Verbs: []string{"patch"}})
	}
	for _, owned := range r.sources.Owned {
		rights = append(rights, deploy.Right{Kind: owned.Kind, Verbs: applyVerbs})
	}
	for _, mapped := range r.sources.Mapped {
		rights = append(rights, deploy.Right{Kind: mapped.Kind, Verbs: readVerbs})
	}
	for _, indexed := range r.sources.Indexed {
		rights = append(rights, deploy.Right{Kind: indexed.Kind, Verbs: readVerbs})
	}
	return rights
}

// renderings is the time of the last complete rendering for a list of rights.
type renderings struct {
	mu   sync.Mutex
	last time.Time
	// kinds are the kinds that any of these renderings had, also outside of the namespace of its resource.
	kinds map[schema.GroupVersionKind]map[string]bool
}

// renderAgain is the shortest time between two renderings for lists of rights.
const renderAgain = time.Minute

// withRights adds to an error because of a missing right all rights that are missing for the resource, as rules to paste.
func (s *Session) withRights(ctx context.Context, err error) error {
	if err == nil || s.dryRun {
		return err
	}
	return deploy.WithMissingRights(ctx, s.manager.View(), err, func() []deploy.Right {
		s.renderAll(ctx)
		return append(s.reconciler.Rights(), s.componentRights()...)
	})
}

// componentRights returns the rights for the objects of the components that were rendered for any resource so far.
func (s *Session) componentRights() (rights []deploy.Right) {
	known := &s.reconciler.rendered
	known.mu.Lock()
	defer known.mu.Unlock()
	for _, c := range s.components {
		known.note(c, s.home)
	}
	if known.kinds[claims] != nil {
		rights = append(rights, deploy.Right{Kind: storageClasses, Verbs: readVerbs})
	}
	for kind, namespaces := range known.kinds {
		for namespace := range namespaces {
			if namespace == "" {
				namespace = s.home
			}
			rights = append(rights, deploy.Right{Kind: kind, Namespace: namespace, Verbs: applyVerbs})
		}
	}
	return rights
}

// note adds the kinds of a component of a resource in the namespace home.
func (r *renderings) note(c *Component, home string) {
	for _, obj := range c.Objects() {
		kind, namespace := obj.GroupVersionKind(), obj.GetNamespace()
		if namespace == home {
			namespace = ""
		}
		if r.kinds == nil {
			r.kinds = map[schema.GroupVersionKind]map[string]bool{}
		}
		if r.kinds[kind] == nil {
			r.kinds[kind] = map[string]bool{}
		}
		r.kinds[kind][namespace] = true
	}
}

// renderAll renders all components in a dry run, as Plan does, also those that would wait for others. It does this at
// most once in renderAgain for all resources, because Setup and Build may send requests.
func (s *Session) renderAll(ctx context.Context) {
	r := s.reconciler
	r.rendered.mu.Lock()
	now := r.now()
	due := r.rendered.last.IsZero() || now.Sub(r.rendered.last) >= renderAgain
	if due {
		r.rendered.last = now
	}
	r.rendered.mu.Unlock()
	if !due || s.resource.GetDeletionTimestamp() != nil {
		return
	}
	ctx = logging.NewScope(ctx) // for the id of another session
	d, err := r.Describe(ctx, s.resource, Describing{DryRun: true, unwatched: true, surveys: true})
	if d == nil {
		return
	}
	defer d.Release()
	if err != nil {
		return // the reconcile reports it
	}
	ctx = d.Context(ctx)
	for _, name := range slices.Sorted(maps.Keys(d.session.names)) {
		c := d.session.names[name]
		if _, err := d.session.render(ctx, c); err == nil {
			r.rendered.mu.Lock()
			r.rendered.note(c, s.home)
			r.rendered.mu.Unlock()
		}
	}
}

// readable returns the error of a read, nil if the session surveys and the operator may not read.
func (s *Session) readable(err error) error {
	if s.surveys && failure.Is[*deploy.ForbiddenError](err) {
		return nil
	}
	return err
}
