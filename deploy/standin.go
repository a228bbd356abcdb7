package deploy

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Contents has Apply take stand-ins for objects whose content is somewhere else or costs something to make: content is asked for what a
// stand-in stands for, unless that is known to be in the cluster already. A stand-in has the apiVersion, kind, name and namespace of the
// object, just as the object says them, and, under other keys of its own, what tells one content of it from all others; two that are equal
// stand for one content. What content returns must be that object, and isn't changed; it may be the stand-in itself, for an object that was
// given as it is. Definitions of kinds can't be stood in for, since others wait for what they say, nor objects without a name. content may be
// called from several goroutines. ApplySet asks with copies of the stand-ins that have the label of the set, and gives it to what they stand
// for. Diff shows what stand-ins stand for; of Delete they are objects like all others.
func Contents(content func(ctx context.Context, standIn *unstructured.Unstructured) (*unstructured.Unstructured, error)) Option {
	return func(s *settings) { s.contents = content }
}

// contentsFunc returns what a stand-in stands for.
type contentsFunc func(ctx context.Context, standIn *unstructured.Unstructured) (*unstructured.Unstructured, error)

// contentOf is what obj stands for, itself if it is no stand-in.
func (s settings) contentOf(ctx context.Context, obj *unstructured.Unstructured, ref Ref) (*unstructured.Unstructured, error) {
	if s.contents == nil || obj == nil || obj.Object == nil {
		return obj, nil
	}
	content, err := s.contents(ctx, obj)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: its content: %w", ref, err)
	case content == obj:
		return obj, nil
	case content == nil || content.Object == nil:
		return nil, &InvalidManifestError{Ref: ref, Reason: "its content is nil"}
	case ref.Name == "":
		return nil, &InvalidManifestError{Ref: ref, Reason: "a stand-in needs a name: give the object itself"}
	case ref.Kind.GroupKind() == definitionKind:
		return nil, &InvalidManifestError{Ref: ref, Reason: "a definition of a kind can't be stood in for: give the object itself"}
	}
	if found := RefOf(content); found != ref {
		return nil, &InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("its content is that of another object, %s", found)}
	}
	return content, nil
}
