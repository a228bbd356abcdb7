package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Session is one reconcile of one custom resource. Setup and Finalize use it from one
// goroutine; what only reads may be called by gates too, several at once. It is worthless
// after the reconcile.
type Session struct {
	id       string
	attempt  int
	resource *unstructured.Unstructured
	// described is the resource with the defaults under it.
	described *unstructured.Unstructured
	// manager works for the resource: what it applies belongs to that. What says no namespace it puts into home.
	manager   *deploy.Manager
	home      string
	watcher   Watcher
	logger    *slog.Logger
	dryRun    bool
	readiness readiness.Checker
	// classesUnread is done when it is logged that storage classes can't be read.
	classesUnread *sync.Once
	now           func() time.Time
	// watched: somebody looks at the contents of objects.
	watched    bool
	components []*Component
	names      map[string]*Component
	claims     claims
	rolling    rolling
	config     map[string]any
	generated  generated
	version    string
	assets     fs.FS
	// releaseAssets is called at the end, nil for nothing.
	releaseAssets func()
	// fixedVersion is what the resource wants whatever it says itself; empty: what it says.
	fixedVersion string
	patches      []Patch
	// nameObjects: objects carry their internal names.
	nameObjects bool
	oper8Names  bool
	ownAnywhere bool
	// unwritten are kinds that the status should name and doesn't yet.
	unwritten []schema.GroupVersionKind
	// noted are kinds that the status names since this reconcile began.
	remembering sync.Mutex
	noted       []schema.GroupVersionKind
	// ended is what its status says at the end.
	ended report
	// events is nil if nothing is recorded.
	events event.Sink
	// removing guards removed, what was asked to be deleted.
	removing sync.Mutex
	removed  changes
	// prunes are the kinds that the option Prunes names, unpruned what wasn't pruned, see keeps.
	prunes   []schema.GroupVersionKind
	unpruned []string
	regrown  *regrown
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

// wrote are the states in which this session has left the objects of its components that it wrote.
func (s *Session) wrote() (states []request.State) {
	for _, c := range s.components {
		for _, result := range c.results {
			switch result.Action {
			case deploy.Created, deploy.Configured, deploy.Replaced, deploy.Recreated:
				states = append(states, request.State{UID: result.Object.GetUID(), ResourceVersion: result.Object.GetResourceVersion()})
			}
		}
	}
	return states
}
