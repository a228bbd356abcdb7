package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Session is one reconcile of one custom resource. Setup and Finalize use it from one
// goroutine; what only reads may be called by gates too, several at once. It is worthless
// after the reconcile.
type Session struct {
	reconciler *Reconciler
	id         string
	attempt    int
	resource   *unstructured.Unstructured
	// described is the resource with the defaults under it.
	described *unstructured.Unstructured
	// manager works for the resource: what it applies belongs to that. What says no namespace it puts into home.
	manager    *deploy.Manager
	home       string
	watcher    Watcher
	logger     *slog.Logger
	dryRun     bool
	components []*Component
	names      map[string]*Component
	index      objectIndex
	rolling    rolling
	config     map[string]any
	generated  generated
	version    string
	assets     fs.FS
	// cleanups are called at the end, the last one first.
	cleanups []func()
	// fixedVersion is what the resource wants whatever it says itself; empty: what it says.
	fixedVersion string
	patches      []Patch
	// unwritten are kinds that the status should name and doesn't yet.
	unwritten []schema.GroupVersionKind
	// noted are kinds that the status names since this reconcile began.
	noting sync.Mutex
	noted  []schema.GroupVersionKind
	// ended is what its status says at the end.
	ended report
	// events is nil if nothing is recorded.
	events event.Sink
	// removing guards removed, what was asked to be deleted.
	removing sync.Mutex
	removed  changes
	// unpruned names what wasn't pruned, see keeps.
	unpruned []string
	// finalized: our finalizer is off the resource; undone is what of Finalize couldn't be rolled out any more.
	finalized bool
	undone    string
}

// newID makes the id of a session: 22 characters of base32 from 16 random bytes (spec:
// reconcile 5).
func newID() string {
	var random [16]byte
	// crypto/rand.Read never fails.
	_, _ = rand.Read(random[:])
	return base32.StdEncoding.EncodeToString(random[:])[:22]
}

// ID names this reconcile in logs.
func (s *Session) ID() string { return s.id }

// Name returns the name of the resource.
func (s *Session) Name() string { return s.resource.GetName() }

// Namespace returns the namespace of the resource, empty for a cluster-scoped one.
func (s *Session) Namespace() string { return s.resource.GetNamespace() }

// Kind returns the kind of the resource.
func (s *Session) Kind() schema.GroupVersionKind { return s.resource.GroupVersionKind() }

// Logger returns the logger of this reconcile.
func (s *Session) Logger() *slog.Logger { return s.logger }

// DryRun tells whether nothing is deployed for real; what depends on the real world should
// then say so instead of asking it.
func (s *Session) DryRun() bool { return s.dryRun }

// Resource returns a copy of the custom resource, with the controller's defaults under it (see Defaulter).
func (s *Session) Resource() *unstructured.Unstructured { return s.described.DeepCopy() }

// Components returns the components in the order in which they were added, disabled ones included. The
// slice is the caller's own.
func (s *Session) Components() []*Component { return slices.Clone(s.components) }

// Component returns the component of a name, nil if none was added (spec: reconcile 8).
func (s *Session) Component(name string) *Component {
	return s.names[name]
}

// Cleanup has f called once when the reconcile has ended, however it did; the functions of several calls in reverse
// order. It is also called after Plan and Graph. It is for Setup and Finalize.
func (s *Session) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

// Manager returns what deploys the objects: all that is applied through it belongs to the resource. It is for
// Builders that deploy in a way of their own. Pruning knows nothing of what no component renders: it is
// deleted when the rollout is done, if it is the resource's.
func (s *Session) Manager() *deploy.Manager { return s.manager }

// Get reads an object, nil when there is none. An empty namespace in ref means cluster
// scope: use the session's for what lives beside the resource. The object is shared: copy
// it before you change it. A kind that the resource owns nothing of is read from the cluster
// itself, at a call each time, and its changes don't bring the resource to reconcile; see Follow.
func (s *Session) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return s.manager.View().Get(ctx, ref)
}

// List reads the objects of kind in namespace (empty: all) that selector matches (nil: all), and each of byField (nil:
// all), by the values of deploy.FieldsOf: any field of the object can be named, not only those by which an API server
// selects. It is read as by Get, and selected by fields afterwards. The objects are shared: copy them before you change
// them.
func (s *Session) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector,
	byField ...fields.Selector) ([]*unstructured.Unstructured, error) {
	found, err := s.manager.View().List(ctx, kind, namespace, selector)
	if err != nil || len(byField) == 0 {
		return found, err
	}
	return slices.DeleteFunc(slices.Clone(found), func(obj *unstructured.Unstructured) bool {
		return slices.ContainsFunc(byField, func(wanted fields.Selector) bool {
			return wanted != nil && !wanted.Matches(deploy.FieldsOf(obj))
		})
	}), nil
}

// results yields those of the objects of all components.
func (s *Session) results() iter.Seq[deploy.Result] {
	return func(yield func(deploy.Result) bool) {
		for _, c := range s.components {
			for _, result := range c.results {
				if !yield(result) {
					return
				}
			}
		}
	}
}

// wrote returns the revisions in which this session has left the objects of its components that it wrote.
func (s *Session) wrote() (revisions []request.Revision) {
	for result := range s.results() {
		switch result.Action {
		case deploy.Created, deploy.Configured, deploy.Replaced, deploy.Recreated:
			revisions = append(revisions, request.Revision{UID: result.Object.GetUID(), ResourceVersion: result.Object.GetResourceVersion()})
		}
	}
	return revisions
}

// Add adds a component that consists of objects: *unstructured.Unstructured, plain maps,
// API structs with their TypeMeta set, apply configurations, or YAML. Namespaced objects without
// a namespace get the resource's. Their names in the component are made of their kinds and names, such as
// "deployment/web", with the namespace between if it isn't the resource's; Component.Add gives one of its own. A mistake, such as a name that is taken or an object that
// another component has already, ends the reconcile after Setup or Finalize, before anything is written.
func (s *Session) Add(name string, objects ...any) *Component {
	c := s.component(name)
	for _, object := range objects {
		text, isText := object.(YAML)
		if !isText {
			c.Add("", object)
			continue
		}
		found, err := render.YAML(string(text))
		if err != nil {
			c.fail("%w", err)
		}
		for _, obj := range found {
			c.Add("", obj)
		}
	}
	return c
}

// component adds an empty component.
func (s *Session) component(name string) *Component {
	c := &Component{name: name, session: s, rendering: rendering{turn: make(chan struct{}, 1)}}
	if s.late("component %s is added when the rollout has begun: add it in Setup or Finalize", name) {
		return c
	}
	if name == "" {
		c.mistakes = append(c.mistakes, errors.New("a component has no name"))
	}
	if s.names == nil {
		s.names = map[string]*Component{}
	}
	if s.names[name] != nil {
		c.fail("is added twice")
	} else if name != "" {
		s.names[name] = c
	}
	s.components = append(s.components, c)
	return c
}

// passedThrough are the annotations that a resource hands down: how it is configured, how its reconciles log,
// and whether they rest. Temporary patches and leases are a resource's own.
var passedThrough = []string{"config-defaults", "log-default-level", "log-filters", "log-json", "log-thread-id", "pause-execution"}

// Passthrough returns the annotations that a custom resource which is itself rendered from this one should
// carry (spec: reconcile 47), those of them that this one has: config-defaults, log-default-level,
// log-filters, log-json, log-thread-id and pause-execution, under the operator's domain. The map is the
// caller's own.
func (s *Session) Passthrough() map[string]string {
	annotations := s.resource.GetAnnotations()
	passed := map[string]string{}
	for _, name := range passedThrough {
		key := s.manager.KeyDomain() + "/" + name
		if value, ok := annotations[key]; ok {
			passed[key] = value
		}
	}
	return passed
}

// Watcher is told which kinds a session is about to read or write on behalf of a resource,
// so that it can be reconciled when objects of them change. It returns once the objects of
// kind child that exist are known. It is called from several goroutines, and with every
// reconcile again.
type Watcher interface {
	Own(ctx context.Context, owner, child schema.GroupVersionKind) error
}

// Follower is what a Watcher may offer beside: single objects that the resource of owner doesn't own bring it to
// reconcile when they come, change or go. It returns once they are known. What a reconcile that ends without an
// error didn't ask for is followed no longer.
type Follower interface {
	Watcher
	// Follow is told of one object, and returns once its present state is known.
	Follow(ctx context.Context, owner deploy.Ref, ref deploy.Ref) error
}

// Follow has the resource reconciled when the object that ref names comes, changes or goes, although it isn't the
// resource's own: a Secret that the spec names, say. Call it with every reconcile, and before the object is read:
// from then on Get and List of its kind cost no call. An empty namespace in ref means cluster scope. With a Watcher
// that is no Follower (package watch is one) the kind is watched, but not followed; without any, nothing is.
func (s *Session) Follow(ctx context.Context, ref deploy.Ref) error {
	follower, ok := s.watcher.(Follower)
	if !ok {
		return s.Own(ctx, ref.Kind)
	}
	return follower.Follow(ctx, deploy.RefOf(s.resource), ref)
}

// Own has a kind watched before the first object of it is read or written, so that the resource is reconciled when one changes that it owns. What
// components render, and what Remove deletes, needs no call of it. A kind that isn't served yet is a *deploy.KindUnknownError; one that a component
// itself defines is watched once the component is deployed.
func (s *Session) Own(ctx context.Context, kind schema.GroupVersionKind) error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Own(ctx, s.Kind(), kind)
}

// ownKinds has the kinds of a component watched. Those that it defines itself and that aren't served yet are left for later,
// when it is deployed.
func (s *Session) ownKinds(ctx context.Context, rendered *finishedRendering) (later []schema.GroupVersionKind, err error) {
	for _, kind := range rendered.kinds {
		err := s.Own(ctx, kind)
		switch {
		case err == nil:
		case isUnknownKind(err) && rendered.defines(kind.GroupKind()):
			later = append(later, kind)
		default:
			return nil, err
		}
	}
	return later, nil
}

// defines tells whether a CustomResourceDefinition among the objects is that of kind.
func (f *finishedRendering) defines(kind schema.GroupKind) bool {
	return slices.ContainsFunc(f.contents, func(content *unstructured.Unstructured) bool {
		if content.GroupVersionKind().GroupKind() != definitionKind {
			return false
		}
		group, _, _ := unstructured.NestedString(content.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(content.Object, "spec", "names", "kind")
		return kind == schema.GroupKind{Group: group, Kind: name}
	})
}

// kindsOf returns the kinds of objects, each once, in their order.
func kindsOf(objects []*unstructured.Unstructured) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, obj := range objects {
		kinds = withKinds(kinds, obj.GroupVersionKind())
	}
	return kinds
}
