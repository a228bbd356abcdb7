package cluster

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// record runs one write of ref and keeps its answer in the overlay of each version of its
// kind that is watched by then: the watch may have begun while the write was under way.
// Reads of other kinds are live anyway. A ref without a name gets it from the answer.
func (s *store) record(ref deploy.Ref, write func() (answer, error)) (answer, error) {
	end := s.overlay.begin(ref)
	defer end()
	got, err := write()
	if err != nil {
		return got, err
	}
	if ref.Name == "" {
		ref.Name = got.object.GetName()
	}
	s.wrote(ref, got.object)
	return got, nil
}

// wrote records obj, the answer to a write of ref. What it looks like in another version of
// its kind, or after the write of a subresource that isn't answered by the object itself, is
// known by its resource version only.
func (s *store) wrote(ref deploy.Ref, obj *unstructured.Unstructured) {
	if obj.GetResourceVersion() == "" {
		return
	}
	if s.metadataOnly[ref.Kind.GroupKind()] {
		obj = metadataOf(obj)
	}
	for _, kind := range s.watchedVersions(ref) {
		ref.Kind = kind
		if obj.GroupVersionKind() == kind {
			s.overlay.wrote(ref, obj)
		} else {
			s.overlay.wroteUnread(ref, obj)
		}
	}
}

// metadataOf is obj without anything but its metadata.
func metadataOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": obj.Object["apiVersion"], "kind": obj.Object["kind"], "metadata": obj.Object["metadata"],
	}}
}

// recordDelete is record for deletions: the API server answers with a Status when the object
// is gone, with the object when something holds it, and with either when it had no holder. That
// to the deletion of a Namespace doesn't say that it is gone, see removed.
func (s *store) recordDelete(ref deploy.Ref, uid types.UID, remove func() (answer, error)) error {
	end := s.overlay.begin(ref)
	defer end()
	got, err := remove()
	if err != nil {
		return err
	}
	obj := got.object
	if obj.GetKind() == ref.Kind.Kind && obj.GetDeletionTimestamp() != nil && !removed(obj) {
		s.wrote(ref, obj)
		return nil
	}
	if gone := deletedUID(ref, obj); gone != "" {
		uid = gone
	}
	for _, kind := range s.watchedVersions(ref) {
		ref.Kind = kind
		s.overlay.deleted(ref, uid)
	}
	return nil
}

// deletedUID returns the uid of what the answer to a deletion says is gone.
func deletedUID(ref deploy.Ref, obj *unstructured.Unstructured) types.UID {
	if obj.GetKind() == ref.Kind.Kind {
		return obj.GetUID()
	}
	// An error would be a uid that is no text.
	uid, _, _ := unstructured.NestedString(obj.Object, "details", "uid")
	return types.UID(uid)
}

// watchedVersions returns the kinds with an informer that shows ref's object: ref's own and
// others that are the same in another version.
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
