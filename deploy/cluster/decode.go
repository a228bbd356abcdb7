package cluster

import (
	"errors"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// known returns an object that is in memory already, nil if it isn't. Each own write comes twice, as its
// answer and as an event, and is decoded when it comes first.
type known func(ref deploy.Ref, uid types.UID, version string) *unstructured.Unstructured

// decode reads an object, unless it is one that is known.
func decode(document []byte, known known) (*unstructured.Unstructured, error) {
	if h, ok := peek(document); ok && known != nil {
		version, err := schema.ParseGroupVersion(string(h.apiVersion))
		ref := deploy.Ref{Kind: version.WithKind(string(h.kind)), Namespace: string(h.namespace), Name: string(h.name)}
		if obj := known(ref, types.UID(h.uid), string(h.version)); err == nil && obj != nil {
			return obj, nil
		}
	}
	// Not by the object's own decoder, which reads everything twice to tell lists from objects.
	var content map[string]any
	if err := json.Unmarshal(document, &content); err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: content}
	if obj.GetKind() == "" {
		return nil, errors.New("it has no kind")
	}
	return obj, nil
}

// written is known by our own writes.
func (s *store) written(ref deploy.Ref, uid types.UID, version string) *unstructured.Unstructured {
	s.overlay.mu.Lock()
	entry := s.overlay.entries[ref]
	s.overlay.mu.Unlock()
	return entry.state(uid, version)
}

func (e overlayEntry) state(uid types.UID, version string) *unstructured.Unstructured {
	if e.object == nil || e.uid != uid || e.version != version {
		return nil
	}
	return e.object
}

// watchedState is known by what informers show.
func (s *store) watchedState(ref deploy.Ref, uid types.UID, version string) *unstructured.Unstructured {
	if s.metadataOnly[ref.Kind.GroupKind()] {
		return nil
	}
	obj := s.shown(ref).object
	if obj == nil || obj.GetUID() != uid || obj.GetResourceVersion() != version {
		return nil
	}
	return obj
}
