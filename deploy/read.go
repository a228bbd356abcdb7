package deploy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Get returns the object that ref names, as the View shows it: never older than this process's own writes. It returns
// nil without an error for an absent object, and a *KindUnknownError for a kind that the cluster doesn't serve. The
// object is shared: don't change it.
func (m *Manager) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	return m.read(ctx, m.settings.retryFor, ref)
}

// List returns the objects of kind that selector matches (nil: all), ascending by namespace and name.
// An empty namespace means all of them. They are shared: don't change them.
func (m *Manager) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return retry(ctx, m.settings.retryFor, func() ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, kind, namespace, selector)
	})
}

// WatchScope limits a watch; the zero value is all objects of the kind.
type WatchScope struct {
	// Namespace limits it to one namespace, Name to one name; empty means any.
	Namespace, Name string
	// Labels limits it to the objects that match; nil matches all.
	Labels labels.Selector
}

func (w WatchScope) holds(obj *unstructured.Unstructured) bool {
	return obj != nil && (w.Namespace == "" || obj.GetNamespace() == w.Namespace) &&
		(w.Name == "" || obj.GetName() == w.Name) &&
		(w.Labels == nil || w.Labels.Matches(labels.Set(obj.GetLabels())))
}

// Watch calls handle for each object of kind in scope that exists, and for each event from then on, like
// View.Subscribe: the events of one object come one after the other, until ctx ends. An object that enters the scope by
// a change of its labels is Added, one that leaves it is Deleted, in its last state within the scope.
func (m *Manager) Watch(ctx context.Context, kind schema.GroupVersionKind, scope WatchScope, handle func(Event)) (Subscription, error) {
	return m.view.Subscribe(ctx, kind, func(event Event) {
		was, is := event.Type != Added && scope.holds(event.Old), event.Type != Deleted && scope.holds(event.New)
		switch {
		case event.Type == Deleted:
			if scope.holds(event.New) {
				handle(event)
			}
		case was && is:
			handle(event)
		case is:
			handle(Event{Type: Added, New: event.New})
		case was:
			handle(Event{Type: Deleted, Old: event.Old, New: event.Old})
		}
	})
}

// Kind returns the kind that a user means by name: a kind, a resource, a singular or short name, alone or with its
// group and version ("Deployment", "deploy", "deployments.apps", "deployments.v1.apps"). An unknown name is a
// *KindUnknownError, one that means several kinds an *AmbiguousKindError. If nothing is found and a part of discovery
// failed, the error is that of discovery.
func (m *Manager) Kind(ctx context.Context, name string) (schema.GroupVersionKind, error) {
	short, rest, qualified := strings.Cut(name, ".")
	found, err := m.requests(m.settings).Kinds(ctx, short)
	var candidates []schema.GroupVersionKind
	for _, kind := range found {
		version, group, hasGroup := strings.Cut(rest, ".")
		switch {
		case !qualified, kind.Group == rest:
			candidates = append(candidates, kind)
		case hasGroup && kind.Group == group, !hasGroup && kind.Group == "" && isVersion(version):
			named := kind.GroupKind().WithVersion(version)
			if _, err := m.requests(m.settings).Scope(ctx, named); err != nil {
				return schema.GroupVersionKind{}, err
			}
			candidates = append(candidates, named)
		}
	}
	switch {
	case len(candidates) == 0 && err != nil:
		return schema.GroupVersionKind{}, err
	case len(candidates) == 0:
		return schema.GroupVersionKind{}, &KindUnknownError{Kind: schema.GroupVersionKind{Group: rest, Kind: short}}
	case len(candidates) == 1:
		return candidates[0], nil
	}
	return schema.GroupVersionKind{}, &AmbiguousKindError{Name: name, Candidates: candidates}
}

// isVersion reports whether text is a version such as v1beta1, rather than a group.
func isVersion(text string) bool {
	return len(text) > 1 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9'
}

// PartialView is a View that holds some kinds as metadata only, which takes a fraction of the memory. Metadata is all
// that a Manager needs to see that an object is unchanged. It reads the whole object from the cluster, and counts that
// in Result.Calls, where it needs more: for a strategy other than applying; if the intent changed and others own some
// of its fields, or fields are left to them; and, once for a kind after a restart, for a map or list that may have been
// emptied. Get and List of the View are requests for such kinds, and events have objects without content.
type PartialView interface {
	View
	// Partial is like Get, but if whole is false the object, if there is one, has only apiVersion, kind and metadata.
	Partial(ctx context.Context, ref Ref) (obj *unstructured.Unstructured, whole bool, err error)
}

// seenObject is what the View shows of an object, nil if it shows none. The zero value means that nothing was read yet.
// partial: object has only metadata. metadataOnly: the View holds only metadata of this kind, whether the object exists
// or not.
type seenObject struct {
	ref                   Ref
	object                *unstructured.Unstructured
	partial, metadataOnly bool
}

// see returns what the View shows of an object. It retries like a request.
func (m *Manager) see(ctx context.Context, retryFor time.Duration, ref Ref) (seenObject, error) {
	view, ok := m.view.(PartialView)
	if !ok {
		object, err := m.read(ctx, retryFor, ref)
		if err != nil {
			return seenObject{}, err
		}
		return seenObject{ref: ref, object: object}, nil
	}
	return retry(ctx, retryFor, func() (seenObject, error) {
		object, whole, err := view.Partial(ctx, ref)
		if err != nil {
			return seenObject{}, err
		}
		return seenObject{ref, object, object != nil && !whole, !whole}, nil
	})
}

// look returns what the View shows of an object. It reads it once in a task.
func (t *task) look(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	if t.seen.ref != ref {
		seen, err := t.see(ctx, t.retryFor, ref)
		if err != nil {
			return nil, err
		}
		t.seen, t.partial = seen, seen.partial
	}
	return t.inspected(t.seen.object)
}

// current reads the object of a task from the cluster, nil if it is absent.
func (t *task) current(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := t.port.Get(ctx, t.in.ref)
	if err != nil {
		return nil, err
	}
	return t.inspected(live)
}

func (t *task) inspected(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if t.inspect == nil {
		return live, nil
	}
	if err := t.inspect(t.in.ref, live); err != nil {
		return nil, err
	}
	return live, nil
}

// complete reads the object from the cluster if only its metadata is known.
func (t *task) complete(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil || !t.partial {
		return live, nil
	}
	t.partial = false
	return t.current(ctx)
}

// FieldsOf returns the values of obj for a field selector. The value of a dotted path, such as status.phase, is the
// text of the string, bool or number there, and empty if there is none. Some fields that an API server can select by
// have other values: spec.unschedulable of a Node is false if it isn't set, and status.successful of a Job is its
// status.succeeded. Don't change obj while the result is used.
func FieldsOf(obj *unstructured.Unstructured) fields.Fields { return objectFields{obj} }

type objectFields struct{ *unstructured.Unstructured }

// selectableField is a field that an API server can select by whose value isn't just that of its path.
type selectableField struct {
	kind schema.GroupKind
	path string
}

// selectableFields are the paths to read, in this order, and the value if all are absent.
var selectableFields = map[selectableField]struct {
	paths  []string
	absent string
}{
	{schema.GroupKind{Kind: "Node"}, "spec.unschedulable"}:               {[]string{"spec.unschedulable"}, "false"},
	{schema.GroupKind{Kind: "Pod"}, "spec.hostNetwork"}:                  {[]string{"spec.hostNetwork"}, "false"},
	{schema.GroupKind{Kind: "ReplicationController"}, "status.replicas"}: {[]string{"status.replicas"}, "0"},
	{schema.GroupKind{Group: "batch", Kind: "Job"}, "status.successful"}: {[]string{"status.succeeded"}, "0"},
	{schema.GroupKind{Kind: "Event"}, "source"}:                          {[]string{"source.component", "reportingComponent"}, ""},
}

// Has implements fields.Fields.
func (o objectFields) Has(path string) bool { return o.Get(path) != "" }

// Get implements fields.Fields.
func (o objectFields) Get(path string) string {
	special, known := selectableFields[selectableField{o.GroupVersionKind().GroupKind(), path}]
	if !known {
		return o.text(path)
	}
	for _, path := range special.paths {
		if text := o.text(path); text != "" {
			return text
		}
	}
	return special.absent
}

// text returns the value at a path as text, empty for lists and maps.
func (o objectFields) text(path string) string {
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(path, ".")...)
	if err != nil {
		return ""
	}
	switch value.(type) {
	case string, bool, int64, float64:
		return fmt.Sprint(value)
	}
	return ""
}
