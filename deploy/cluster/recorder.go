package cluster

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// record runs one write of ref and keeps its answer in the overlay if the kind is watched
// by then: the watch may have begun while the write was under way. Reads of other kinds
// are live anyway.
func (s *store) record(ref deploy.Ref, write func() (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	end := s.overlay.begin(ref)
	defer end()
	obj, err := write()
	if err == nil && s.informerOf(ref) != nil {
		s.overlay.wrote(ref, obj)
	}
	return obj, err
}

// recordDelete is record for deletions: the API server answers with a Status when the object
// is gone, with the object when something holds it, and with either when it had no holder.
func (s *store) recordDelete(ref deploy.Ref, uid types.UID, remove func() (*unstructured.Unstructured, error)) error {
	end := s.overlay.begin(ref)
	defer end()
	answer, err := remove()
	if err != nil || s.informerOf(ref) == nil {
		return err
	}
	if answer.GetKind() == ref.Kind.Kind && answer.GetDeletionTimestamp() != nil && !removed(answer) {
		s.overlay.wrote(ref, answer)
		return nil
	}
	if answer.GetKind() == ref.Kind.Kind && answer.GetUID() != "" {
		uid = answer.GetUID()
	}
	s.overlay.deleted(ref, uid)
	return nil
}
