package deploy

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// intent is one object as this manager applies it: a private copy without server fields, with owner reference,
// namespace and hash.
type intent struct {
	ref    Ref
	object *unstructured.Unstructured
	hash   string
	// strategy is the strategy of the object.
	strategy Strategy
	// byLabel reports that the owner owns the object only by label.
	byLabel bool
}

// serverFields are set by the API server and aren't part of an intent.
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
	sum, err := s.hashOf(clean)
	if err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: strings.TrimPrefix(err.Error(), ".")}
	}
	if err := unstructured.SetNestedField(content, sum, "metadata", "annotations", s.hashKey()); err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	return &intent{ref: ref, object: clean, hash: sum, strategy: strategy, byLabel: byLabel}, nil
}

// hashOf returns the hash of an intent. The uid of the owner doesn't count: an object that gets a new owner of the same
// name has the same intent. coverage finds out whether it references the owner.
func (s settings) hashOf(obj *unstructured.Unstructured) (string, error) {
	if s.owner == nil {
		return hashIntent(obj.Object)
	}
	metadata, _ := obj.Object["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	if len(references) == 0 {
		return hashIntent(obj.Object)
	}
	references = slices.Clone(references)
	for i, item := range references {
		if reference, _ := item.(map[string]any); reference["uid"] == string(s.owner.GetUID()) {
			reference = maps.Clone(reference)
			delete(reference, "uid")
			references[i] = reference
		}
	}
	content, metadata := maps.Clone(obj.Object), maps.Clone(metadata)
	metadata["ownerReferences"], content["metadata"] = references, metadata
	return hashIntent(content)
}

// checkAnnotations returns an error if an annotation isn't a string, because then GetAnnotations returns no annotations
// at all.
func checkAnnotations(obj *unstructured.Unstructured, ref Ref) error {
	annotations, err := metadataTexts(obj, ref, "annotations")
	if err != nil {
		return err
	}
	if _, bad := annotations[""]; bad {
		return &InvalidManifestError{Ref: ref, Reason: "metadata.annotations has an empty key"}
	}
	return nil
}

// strip sets the namespace of obj and removes the fields that aren't part of an intent: server fields, the status, and
// the annotations in which clients store the manifests that they applied.
func (s settings) strip(obj *unstructured.Unstructured, ref Ref) {
	obj.SetNamespace(ref.Namespace)
	delete(obj.Object, "status")
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, field := range serverFields {
		delete(metadata, field)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, lastApplied)
	delete(annotations, s.hashKey())
	// Built-in kinds don't store these fields when they are empty. In custom resources they would be written again with
	// each apply.
	for _, field := range []string{"annotations", "labels", "finalizers", "ownerReferences"} {
		if isEmpty(metadata[field]) {
			delete(metadata, field)
		}
	}
}

// encodeStringData moves a Secret's stringData to data, as the API server does. Otherwise our entry would own
// stringData, which the API server doesn't store.
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
			return &InvalidManifestError{Ref: ref, Reason: "stringData." + key + " isn't a string: quote it"}
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(content))
	}
	delete(content, "stringData")
	content["data"] = data
	return nil
}

// Contents lets Apply take stand-ins for objects whose content is stored elsewhere or expensive to render. content
// returns the object that a stand-in stands for. It isn't called if the cluster is known to have that object already. A
// stand-in has exactly the apiVersion, kind, name and namespace of the object. Under further keys it has a value that
// differs for each content, because equal stand-ins count as equal content. For an object that was given as it is,
// content returns its argument. content may be called from several goroutines, and the object that it returns isn't
// changed. A stand-in can't stand for a CustomResourceDefinition, whose content other objects need, nor for an object
// without a name. ApplySet adds the label of the set to the stand-ins that it passes to content, and to the objects
// that content returns. Diff shows the objects that stand-ins stand for. Delete treats stand-ins like other objects.
func Contents(content func(ctx context.Context, standIn *unstructured.Unstructured) (*unstructured.Unstructured, error)) Option {
	return func(s *settings) { s.contents = content }
}

// contentsFunc returns the object that a stand-in stands for.
type contentsFunc func(ctx context.Context, standIn *unstructured.Unstructured) (*unstructured.Unstructured, error)

// contentOf returns the object for the stand-in obj. It returns obj itself if obj isn't a stand-in.
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
		return nil, &InvalidManifestError{Ref: ref, Reason: "a CustomResourceDefinition can't have a stand-in: give the object itself"}
	}
	if found := RefOf(content); found != ref {
		return nil, &InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("its content belongs to another object, %s", found)}
	}
	return content, nil
}

// deepest limits how deep a manifest may be nested. API servers accept less, and a manifest that contains itself
// exceeds it.
const deepest = 1000

// plainCopy returns a copy of obj as the API server would decode it, or an *InvalidManifestError.
func plainCopy(obj *unstructured.Unstructured, ref Ref) (*unstructured.Unstructured, error) {
	content, err := plainMap(obj.Object)
	if err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: strings.TrimPrefix(err.Error(), ".")}
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// plainMap copies a JSON object as the API server would decode it: integers become int64. It leaves out null entries,
// because an apply of null would own an absent field.
func plainMap(content map[string]any) (map[string]any, error) { return plainMapOf(content, deepest) }

func plainMapOf(content map[string]any, depth int) (map[string]any, error) {
	if depth < 0 {
		return nil, errTooDeep
	}
	out := make(map[string]any, len(content))
	for key, item := range content {
		if item == nil {
			continue
		}
		copied, err := plain(item, depth-1)
		if err != nil {
			return nil, nested(err, "."+key, depth)
		}
		out[key] = copied
	}
	return out, nil
}

var errTooDeep = errors.New(": it is nested too deeply, or contains itself")

// nested prefixes an error with the place in the manifest. If the manifest is nested too deeply, only the outermost
// places are named.
func nested(err error, place string, depth int) error {
	if errors.Is(err, errTooDeep) && depth < deepest-10 {
		return err
	}
	return fmt.Errorf("%s%w", place, err)
}

func plain(value any, depth int) (any, error) {
	switch v := value.(type) {
	case nil, string, bool, int64:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf(": %v is not a JSON value", v)
		}
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case map[string]any:
		return plainMapOf(v, depth)
	case []any:
		if depth < 0 {
			return nil, errTooDeep
		}
		out := make([]any, len(v))
		for i, item := range v {
			copied, err := plain(item, depth-1)
			if err != nil {
				return nil, nested(err, fmt.Sprintf("[%d]", i), depth)
			}
			out[i] = copied
		}
		return out, nil
	}
	return nil, fmt.Errorf(": %T is not a JSON value", value)
}
