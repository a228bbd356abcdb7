package cluster

import (
	"errors"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// known returns an object that is in memory already, nil if it isn't, or if whole and no more than its metadata is. Each own
// write comes twice, as its answer and as an event, and is decoded when it comes first.
type known func(ref deploy.Ref, uid types.UID, version string, whole bool) *unstructured.Unstructured

// decoder reads objects. The zero value makes an object of its own of each document.
type decoder struct {
	// known are objects that needn't be decoded again.
	known known
	// common keeps equal parts of objects once; what it has part in is not to be changed.
	common *common
	// partial: what is held as records has its common parts there.
	partial bool
}

// decode reads an object. It is of kind, if that isn't empty, else of the kind that it says.
func (d decoder) decode(document []byte, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	if isProtobuf(document) {
		return d.decodeMetadata(document, kind)
	}
	if obj := d.recall(document, kind); obj != nil {
		return obj, nil
	}
	// Not by the object's own decoder, which reads everything twice to tell lists from objects.
	var content map[string]any
	if err := json.Unmarshal(document, &content); err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: content}
	if content == nil {
		return nil, errors.New("it is null")
	}
	if !kind.Empty() {
		obj.SetGroupVersionKind(kind)
		if obj.GetName() == "" {
			return nil, errors.New("it has no name")
		}
	}
	if obj.GetKind() == "" {
		return nil, errors.New("it has no kind")
	}
	if d.common != nil && !d.partial {
		d.common.share(obj)
	}
	return obj, nil
}

// recall returns the object if it is in memory.
func (d decoder) recall(document []byte, kind schema.GroupVersionKind) *unstructured.Unstructured {
	if d.known == nil {
		return nil
	}
	h, ok := peek(document)
	if !ok {
		return nil
	}
	whole := kind.Empty() // metadata alone doesn't say of what it is
	if whole {
		version, err := schema.ParseGroupVersion(string(h.apiVersion))
		if err != nil {
			return nil
		}
		kind = version.WithKind(string(h.kind))
	}
	return d.known(h.ref(kind), types.UID(h.uid), string(h.version), whole)
}

// written is known by our own writes, of a kind of which either all or nothing but metadata is kept.
func (s *store) written(ref deploy.Ref, uid types.UID, version string, _ bool) *unstructured.Unstructured {
	s.overlay.mu.Lock()
	entry := s.overlay.entries[ref]
	s.overlay.mu.Unlock()
	if entry.object == nil || entry.uid != uid || entry.version != version {
		return nil
	}
	return entry.object
}

// watchedState is known by what informers show.
func (s *store) watchedState(ref deploy.Ref, uid types.UID, version string, whole bool) *unstructured.Unstructured {
	if whole && s.metadataOnly[ref.Kind.GroupKind()] {
		return nil
	}
	informer := s.informerOf(ref)
	if informer == nil {
		return nil
	}
	obj := informer.atHand(ref)
	if obj == nil || obj.GetUID() != uid || obj.GetResourceVersion() != version {
		return nil
	}
	return obj
}
