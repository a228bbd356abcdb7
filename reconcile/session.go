package reconcile

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Session is one reconcile of one custom resource. Setup and Finalize use it from one goroutine. Gates may call its
// reading methods concurrently. Don't keep it after the reconcile has returned.
type Session struct {
	reconciler *Reconciler
	id         string
	attempt    int
	began      time.Time
	resource   *unstructured.Unstructured
	// described is the resource with the defaults merged under it.
	described *unstructured.Unstructured
	// manager applies objects that the resource owns. Objects without a namespace get the namespace home.
	manager    *deploy.Manager
	home       string
	watcher    source.Watcher
	logger     *slog.Logger
	dryRun     bool
	components []*Component
	names      map[string]*Component
	index      objectIndex
	early      earlyReads
	rolling    rolling
	config     map[string]any
	generated  generated
	version    string
	assets     fs.FS
	// cleanups are called at the end of the session, the last one first. A hook of a version may still be running then.
	cleaning sync.Mutex
	cleanups []func()
	released bool
	// within is the longest time until the next reconcile, see RequeueWithin; zero for none.
	requeueing sync.Mutex
	within     time.Duration
	// surveys: the session only finds out what a resource consists of. Objects that it may not read count as absent.
	surveys bool
	// fixedVersion overrides the version that the resource wants; empty for none.
	fixedVersion string
	patches      []patching.Patch
	// unwritten are kinds that the status doesn't name, although there may be objects of these kinds.
	unwritten []schema.GroupVersionKind
	// noted are kinds that were written into the status in this reconcile.
	noting sync.Mutex
	noted  []schema.GroupVersionKind
	// own are the conditions of the controller's own, nil if it declares none.
	own *Conditions
	// fields are fields of the status that the controller sets. status, if not nil, receives them instead.
	fields lifecycle.Fields
	status StatusSink
	// ended is the report that the status gets at the end.
	ended report
	// events is nil if no events are recorded.
	events event.Sink
	// removing guards removed, the results of deletions.
	removing sync.Mutex
	removed  changes
	// unpruned names objects that are kept although no component renders them, see keeps.
	unpruned []string
	// finalized: our finalizer was removed. undone describes components of Finalize that were given up.
	finalized bool
	undone    string
	// predicted are the objects as they will be once they are deployed, for a plan.
	predicted map[deploy.Ref]*unstructured.Unstructured
}

// Conditions are the conditions of a controller's own in one reconcile, see ConditionDeclarer. All methods are safe for
// concurrent use.
type Conditions = lifecycle.Conditions

// Conditions returns the conditions that the controller has declared. What is set is written with the status at the end
// of the reconcile, also if the reconcile fails or panics; Flush writes it before. For a controller that declares none
// it returns nil, on which all methods do nothing.
func (s *Session) Conditions() *Conditions { return s.own }

// SetStatus sets a field of the status, such as "database.endpoint", in the one write of the status at the end of the
// reconcile, also if the reconcile fails or panics. A field that doesn't change costs no write. It keeps its value in
// later reconciles until it is set again; nil removes it. value may be anything that encoding/json encodes, and is
// copied. SetStatus is safe for concurrent use, and may be called by Setup, Finalize, components and all hooks except
// Requeue, which is called after the write.
//
// An invalid path or value (status.Values) is an error of the reconcile, and so is a value that the schema of the kind
// refuses; the rest of the status is written nevertheless. A field that the schema doesn't have isn't stored, and a
// warning in the log names it.
func (s *Session) SetStatus(path string, value any) {
	if s.status != nil {
		s.status.SetStatus(path, value)
		return
	}
	s.fields.Set(path, value)
}

// ID identifies this reconcile in logs.
func (s *Session) ID() string { return s.id }

// Name returns the name of the resource.
func (s *Session) Name() string { return s.resource.GetName() }

// Namespace returns the namespace of the resource, empty for a cluster-scoped resource.
func (s *Session) Namespace() string { return s.resource.GetNamespace() }

// Kind returns the kind of the resource.
func (s *Session) Kind() schema.GroupVersionKind { return s.resource.GroupVersionKind() }

// Logger returns the logger of this reconcile.
func (s *Session) Logger() *slog.Logger { return s.logger }

// DryRun reports whether the reconcile is a dry run, which deploys nothing. In a dry run Setup shouldn't call other
// systems.
func (s *Session) DryRun() bool { return s.dryRun }

// Resource returns a copy of the custom resource, with the controller's defaults merged under it (see Defaulter).
func (s *Session) Resource() *unstructured.Unstructured { return s.described.DeepCopy() }

// Components returns the components in the order in which they were added, including disabled ones. The caller may
// change the slice.
func (s *Session) Components() []*Component { return slices.Clone(s.components) }

// Component returns the component with that name, nil if there is none.
func (s *Session) Component(name string) *Component {
	return s.names[name]
}

// Cleanup registers f, which is called once when the reconcile ends, with or without an error, and also after Plan and
// Graph. Functions are called in reverse order. Call Cleanup in Setup or Finalize. If the reconcile has ended already,
// f is called immediately.
func (s *Session) Cleanup(f func()) {
	s.cleaning.Lock()
	released := s.released
	if !released {
		s.cleanups = append(s.cleanups, f)
	}
	s.cleaning.Unlock()
	if released {
		s.clean(f)
	}
}

func (s *Session) clean(f func()) {
	if err := failure.Guard(func() error { f(); return nil }); err != nil {
		s.logger.Error("panic in a function of Cleanup", "error", err)
	}
}

// Manager returns the manager that deploys the objects; objects that are applied through it are owned by the resource.
// It is for Builders that are Deployers. An object that this manager applied and that no component renders is pruned
// after the rollout.
func (s *Session) Manager() *deploy.Manager { return s.manager }

// Get returns an object, nil if there is none. An empty namespace in ref means cluster scope: for objects in the
// resource's namespace use Session.Namespace. The object is shared: copy it before you change it. If the resource owns
// no objects of ref.Kind, each Get costs an API call, and changes of the object don't bring the resource to reconcile;
// see Follow.
func (s *Session) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	found, err := s.manager.View().Get(ctx, ref)
	return found, s.readable(err)
}

// List reads the objects of kind in namespace (empty: all) that match selector and every selector in byField; a nil
// selector matches all objects. byField selects by the values of deploy.FieldsOf, so any field can be named. As with
// Get, the objects are shared: copy them before you change them. Calls cost as with Get.
func (s *Session) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector,
	byField ...fields.Selector) ([]*unstructured.Unstructured, error) {
	found, err := s.manager.View().List(ctx, kind, namespace, selector)
	if err != nil || len(byField) == 0 {
		return found, s.readable(err)
	}
	return slices.DeleteFunc(slices.Clone(found), func(obj *unstructured.Unstructured) bool {
		return slices.ContainsFunc(byField, func(wanted fields.Selector) bool {
			return wanted != nil && !wanted.Matches(deploy.FieldsOf(obj))
		})
	}), nil
}

// results yields the results of all objects of all components.
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

// wrote returns the latest revisions of the objects of components that this session wrote. Objects that Input read
// before aren't included, so that their events bring the resource to reconcile.
func (s *Session) wrote() (revisions []request.Revision) {
	early := s.early.all()
	for result := range s.results() {
		if early[s.identityOf(result.Ref)] {
			continue
		}
		switch result.Action {
		case deploy.Created, deploy.Configured, deploy.Replaced, deploy.Recreated:
			revisions = append(revisions, request.Revision{UID: result.Object.GetUID(), ResourceVersion: result.Object.GetResourceVersion()})
		}
	}
	return revisions
}

// Add adds a component that consists of objects: *unstructured.Unstructured, plain maps, API structs with their
// TypeMeta set, apply configurations, or YAML. Namespaced objects without a namespace get the namespace of the
// resource. The name of each object in the component is its kind and name, such as "deployment/web", with the namespace
// in between if it isn't the resource's namespace; Component.Add sets another name. A mistake, such as a duplicate name
// or an object that another component already has, ends the reconcile after Setup or Finalize, before anything is
// written.
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
	if s.rejectLate("component %s is added when the rollout has begun: add it in Setup or Finalize", name) {
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

// passedThrough are the annotations that a child inherits. The annotations for temporary patches and leases aren't
// inherited.
var passedThrough = []string{"config-defaults", "log-default-level", "log-filters", "log-json", "log-thread-id", "pause-execution"}

// Passthrough returns those annotations of the resource that a child custom resource should inherit: config-defaults,
// log-default-level, log-filters, log-json, log-thread-id and pause-execution, with the operator's domain. The caller
// may change the map.
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

// Follow watches an object that the resource doesn't own: its creation, change or deletion brings the resource to
// reconcile. Use it for a Secret that the spec names, for example. Call it in every reconcile, before the object is
// read; from then on Get and List of its kind cost no API call. An empty namespace in ref means cluster scope. Without
// a Watcher Follow does nothing.
func (s *Session) Follow(ctx context.Context, ref deploy.Ref) error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Follow(ctx, deploy.RefOf(s.resource), ref)
}

// FollowAll is Follow for the objects that List returns for a kind, namespace ("": all namespaces) and selector, now or
// later.
func (s *Session) FollowAll(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.FollowAll(ctx, deploy.RefOf(s.resource), kind, namespace, selector)
}

// Own watches a kind, so that changes of objects that the resource owns bring the resource to reconcile. Call it before
// the first object of the kind is read or written. The kinds of objects that components render or Remove deletes are
// watched without it. If the kind isn't served yet, the error is a *deploy.KindUnknownError; a kind that a component
// itself defines is watched once that component is deployed.
func (s *Session) Own(ctx context.Context, kind schema.GroupVersionKind) error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Own(ctx, s.Kind(), kind)
}

// ownKinds watches the kinds of a component. It returns the kinds that the component itself defines and that aren't
// served yet.
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

// defines reports whether the objects have the CustomResourceDefinition of kind.
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
