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

// Get reads from the View, and returns the object that ref names. The object is never older than this process's own
// writes. If the object is absent, Get returns nil without an error. If the cluster doesn't serve the kind, the error
// is a *KindUnknownError. The object is shared: don't change it.
func (m *Manager) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	return m.read(ctx, m.settings.retryFor, ref)
}

// List returns the objects of kind that selector matches (nil: all), ascending by namespace and name. An empty
// namespace means all namespaces. The objects are shared: don't change them.
func (m *Manager) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return retry(ctx, m.settings.retryFor, func() ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, kind, namespace, selector)
	})
}

// WatchScope limits a watch. The zero value limits nothing: it includes all objects of the kind.
type WatchScope struct {
	// Namespace limits the watch to one namespace, and Name to one name. Empty means any.
	Namespace, Name string
	// Labels limits the watch to the objects that match. nil matches all objects.
	Labels labels.Selector
}

func (w WatchScope) holds(obj *unstructured.Unstructured) bool {
	return obj != nil && (w.Namespace == "" || obj.GetNamespace() == w.Namespace) &&
		(w.Name == "" || obj.GetName() == w.Name) &&
		(w.Labels == nil || w.Labels.Matches(labels.Set(obj.GetLabels())))
}

// Watch calls handle for each existing object of kind in scope, and then for each event, until ctx ends. Like
// View.Subscribe, it delivers the events of one object one after the other. If a change of labels moves an object into
// the scope, the event is Added. If a change moves it out of the scope, the event is Deleted, with the last state
// within the scope.
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

// Kind returns the kind that a user means by name. name is a kind, or a plural, singular or short name, with or without
// its group and version ("Deployment", "deploy", "deployments.apps", "deployments.v1.apps"). For an unknown name the
// error is a *KindUnknownError. For a name that means several kinds it is an *AmbiguousKindError. If no kind is found
// and a part of discovery failed, Kind returns the error of discovery.
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

// PartialView is a View that holds only the metadata of some kinds. This takes a fraction of the memory. A Manager
// needs only metadata to find an object unchanged. If it needs more, it reads the whole object from the cluster and
// counts that in Result.Calls. It needs more for every strategy other than ServerSideApply. It also needs more if the
// intent changed and others own some of the fields of the intent, or fields are left to them. And it needs more for a
// map or list that may have been emptied, once for each kind after a restart. For kinds of which the View holds only
// metadata, its Get and List send requests, and the objects in events have no content.
type PartialView interface {
	View
	// Partial is like Get, but may return an object that has only apiVersion, kind and metadata. For a kind of which
	// the View holds only metadata, whole is false even if the object is absent.
	Partial(ctx context.Context, ref Ref) (obj *unstructured.Unstructured, whole bool, err error)
}

// seenObject is the state of an object that the View showed. object is nil if the View showed none. The zero value
// means that nothing was read yet. partial means that object has only metadata. metadataOnly means that the View holds
// only metadata of this kind, whether the object exists or not.
type seenObject struct {
	ref                   Ref
	object                *unstructured.Unstructured
	partial, metadataOnly bool
}

// see reads an object from the View, with the same retries as a request.
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

// look returns the object that the View shows, nil if there is none. It reads the View once per task.
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
// string, bool or number at that path as text, and empty if there is none. For some fields the value is instead the one
// that an API server uses in selectors: spec.unschedulable of a Node is false if it isn't set, and status.successful of
// a Job is its status.succeeded. Don't change obj while the result is used.
func FieldsOf(obj *unstructured.Unstructured) fields.Fields { return objectFields{obj} }

type objectFields struct{ *unstructured.Unstructured }

// selectableField is a field whose value for selectors isn't simply the value at its path.
type selectableField struct {
	kind schema.GroupKind
	path string
}

// selectableFields holds, for each such field, the paths to read in order, and the value for the case that all paths
// are absent.
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

// text returns the value at a path as text. It returns "" for lists, maps and absent values.
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
