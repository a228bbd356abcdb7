package cluster

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// record runs one write of ref and puts its answer into the overlay, for each version of its kind that is watched after
// the write: the watch may have begun meanwhile. Reads of other kinds are live anyway. A ref without a name gets the
// answer's.
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

// wrote records obj, the answer to a write of ref. For another version of the kind, or after the write of a subresource
// whose answer isn't the object, only the resource version is known.
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

// metadataOf returns obj with nothing but its metadata.
func metadataOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": obj.Object["apiVersion"], "kind": obj.Object["kind"], "metadata": obj.Object["metadata"],
	}}
}

// recordDelete is record for deletions. The API server answers with a Status when the object is gone, with the object
// when something holds it, and with either when nothing held it. For a Namespace a Status doesn't mean that it is gone,
// see isGone.
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
	if gone := deletedUID(ref, obj); gone != "" {
		uid = gone
	}
	for _, kind := range s.watchedVersions(ref) {
		ref.Kind = kind
		s.overlay.deleted(ref, uid)
	}
	return nil
}

// deletedUID returns the uid that the answer to a deletion names, or "".
func deletedUID(ref deploy.Ref, obj *unstructured.Unstructured) types.UID {
	if obj.GetKind() == ref.Kind.Kind {
		return obj.GetUID()
	}
	// The error would be about a uid that is no text.
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
