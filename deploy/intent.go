package deploy

import (
	"context"
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// intent is one object as this manager wants it: a private copy, stripped of what isn't
// intent, with owner reference and namespace filled in and the hash of all that.
type intent struct {
	ref    Ref
	object *unstructured.Unstructured
	hash   string
	// strategy is how the object is written.
	strategy Strategy
	// byLabel tells that its owner owns it by label only.
	byLabel bool
}

// serverFields are set by the API server; they are no intent of anybody.
var serverFields = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "selfLink", "managedFields"}

func (m *Manager) newIntent(ctx context.Context, s settings, obj *unstructured.Unstructured) (*intent, error) {
	ref, scope, err := m.locate(ctx, s, obj)
	if err != nil {
		return nil, err
	}
	clean, err := plainCopy(obj, ref)
	if err != nil {
		return nil, err
	}
	content := clean.Object
	if err := checkAnnotations(clean, ref); err != nil {
		return nil, err
	}
	strategy, err := s.strategyOf(clean, ref)
	if err != nil {
		return nil, err
	}
	s.strip(clean, ref)
	if err := encodeStringData(ref, content); err != nil {
		return nil, err
	}
	byLabel, err := s.own(clean, ref, scope)
	if err != nil {
		return nil, err
	}
	if ref.Name == "" {
		if err := s.markGenerated(clean, ref); err != nil {
			return nil, err
		}
	}
	sum, err := hashIntent(content)
	if err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: strings.TrimPrefix(err.Error(), ".")}
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = make(map[string]any, 1)
		metadata["annotations"] = annotations
	}
	annotations[s.hashKey()] = sum
	return &intent{ref: ref, object: clean, hash: sum, strategy: strategy, byLabel: byLabel}, nil
}

// checkAnnotations: one value that is no text would hide all annotations from what reads them.
func checkAnnotations(obj *unstructured.Unstructured, ref Ref) error {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	annotations, isMap := metadata["annotations"].(map[string]any)
	for _, value := range annotations {
		_, isText := value.(string)
		isMap = isMap && isText
	}
	if _, there := metadata["annotations"]; there && !isMap {
		return &InvalidManifestError{Ref: ref, Reason: "metadata.annotations is no map of strings: quote its values"}
	}
	if _, bad := annotations[""]; bad {
		return &InvalidManifestError{Ref: ref, Reason: "metadata.annotations has an empty key"}
	}
	return nil
}

// strip gives obj its full name and takes out what is no intent: what the server sets, the
// status, and the annotations in which clients remember what they applied (spec: deploy 5).
func (s settings) strip(obj *unstructured.Unstructured, ref Ref) {
	obj.SetNamespace(ref.Namespace)
	delete(obj.Object, "status")
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, field := range serverFields {
		delete(metadata, field)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	delete(annotations, s.hashKey())
	// Of these nothing is stored when they are empty, and of a custom resource they are written all the same,
	// with each apply anew.
	for _, field := range []string{"annotations", "labels", "finalizers", "ownerReferences"} {
		if isEmpty(metadata[field]) {
			delete(metadata, field)
		}
	}
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// encodeStringData does what the API server does with a Secret's stringData. Left in the
// intent, our entry would own stringData for ever while nothing of it is stored.
func encodeStringData(ref Ref, content map[string]any) error {
	if ref.Kind.Group != "" || ref.Kind.Kind != "Secret" {
		return nil
	}
	text, ok := content["stringData"].(map[string]any)
	if !ok {
		return nil
	}
	data, _ := content["data"].(map[string]any)
	if data == nil {
		data = make(map[string]any, len(text))
	}
	for key, value := range text {
		content, isText := value.(string)
		if !isText {
			return &InvalidManifestError{Ref: ref, Reason: "stringData." + key + " is no text: quote it"}
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(content))
	}
	delete(content, "stringData")
	content["data"] = data
	return nil
}
