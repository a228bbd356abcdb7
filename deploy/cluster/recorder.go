package cluster

import (
	"cmp"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// record sends one write of ref. It adds the response to the overlay for each version of the kind that is watched after
// the write, because a watch may have begun meanwhile. Kinds that aren't watched are read from the API server anyway.
// If ref has no name, record uses the name in the response.
func (s *store) record(ref deploy.Ref, write func() (answer, error)) (answer, error) {
	end := s.overlay.begin(ref)
	defer end()
	got, err := write()
	if err != nil {
		return got, err
	}
	ref.Name = cmp.Or(ref.Name, got.object.GetName())
	s.wrote(ref, got.object)
	return got, nil
}

// wrote records obj, the response to a write of ref. For another version of the kind, it records only the uid and
// resourceVersion. It does the same if the response to a write of a subresource isn't the object.
func (s *store) wrote(ref deploy.Ref, obj *unstructured.Unstructured) {
	if obj.GetResourceVersion() == "" {
		return
	}
	chosen := s.selected[ref.Kind.GroupKind()]
	unselected := obj.GroupVersionKind().GroupKind() == ref.Kind.GroupKind() && !chosen.MatchesLabels(obj)
	// Only the API server knows whether a field selector matches metadata.
	unread := !unselected && !chosen.Matches(obj)
	if s.metadataOnly[ref.Kind.GroupKind()] {
		obj = metadataOf(obj)
	}
	for _, kind := range s.watchedVersions(ref) {
		ref.Kind = kind
		switch {
		case unselected:
			s.overlay.wroteUnselected(ref, obj)
		case unread || obj.GroupVersionKind() != kind:
			s.overlay.wroteUnread(ref, obj)
		default:
			s.overlay.wrote(ref, obj)
		}
	}
}

// metadataOf returns obj with only its metadata.
func metadataOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": obj.Object["apiVersion"], "kind": obj.Object["kind"], "metadata": obj.Object["metadata"],
	}}
}

// recordDelete is like record, for deletions. The API server responds with the object if something blocks its deletion,
// such as a finalizer. If the object is gone, it responds with a Status or with the object. A Namespace in the response
// never counts as gone, see isGone.
func (s *store) recordDelete(ref deploy.Ref, uid types.UID, remove func() (answer, error)) error {
	end := s.overlay.begin(ref)
	defer end()
	got, err := remove()
	if err != nil {
		return err
	}
	obj := got.object
	if obj.GetKind() == ref.Kind.Kind && obj.GetDeletionTimestamp() != nil && !isGone(obj) {
		s.wrote(ref, obj)
		return nil
	}
	uid = cmp.Or(deletedUID(ref, obj), uid)
	for _, kind := range s.watchedVersions(ref) {
		ref.Kind = kind
		s.overlay.deleted(ref, uid)
	}
	return nil
}

// deletedUID returns the uid in the response to a deletion, or "".
func deletedUID(ref deploy.Ref, obj *unstructured.Unstructured) types.UID {
	if obj.GetKind() == ref.Kind.Kind {
		return obj.GetUID()
	}
	// An error only means that the uid isn't a string.
	uid, _, _ := unstructured.NestedString(obj.Object, "details", "uid")
	return types.UID(uid)
}

// watchedVersions returns ref's kind in each version that has an informer for ref.
func (s *store) watchedVersions(ref deploy.Ref) []schema.GroupVersionKind {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var kinds []schema.GroupVersionKind
	for kind, watched := range s.watched {
		if kind.GroupKind() == ref.Kind.GroupKind() && watched.of(ref.Namespace) != nil {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
