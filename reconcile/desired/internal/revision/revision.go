package revision

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// longestName is the length of the longest name.
const longestName = 253

// Patch returns the fields of a parent at paths such as spec.template. A path that doesn't exist is an error: the
// revision would be the same for each parent. Fields with dots in their names can't be named. parent isn't changed, and
// the result shares nothing with it.
func Patch(parent map[string]any, paths []string) (map[string]any, error) {
	patch := map[string]any{}
	for _, path := range paths {
		keys := strings.Split(path, ".")
		value, found, err := unstructured.NestedFieldNoCopy(parent, keys...)
		if err == nil && !found {
			err = errors.New("the parent doesn't have this field: name a field that each parent has")
		}
		if err == nil {
			err = unstructured.SetNestedField(patch, value, keys...)
		}
		if err != nil {
			return nil, fmt.Errorf("field path %s: %w", path, err)
		}
	}
	return patch, nil
}

// At returns the parent as it was in the revision of a patch: with the values of the patch at the paths. The arguments
// aren't changed.
func At(parent, patch map[string]any, paths []string) (map[string]any, error) {
	object := (&unstructured.Unstructured{Object: parent}).DeepCopy().Object
	for _, path := range paths {
		keys := strings.Split(path, ".")
		value, found, err := unstructured.NestedFieldNoCopy(patch, keys...)
		if err == nil && !found {
			err = errors.New("the revision doesn't have this field")
		}
		if err == nil {
			err = unstructured.SetNestedField(object, value, keys...)
		}
		if err != nil {
			return nil, fmt.Errorf("field path %s: %w", path, err)
		}
	}
	return object, nil
}

// Name returns the name of the revision of a patch of a parent with that uid.
func Name(group, resource string, parent types.UID, patch map[string]any) (string, error) {
	content, err := json.Marshal(patch)
	if err != nil {
		return "", fmt.Errorf("revision: %w", err)
	}
	if group == "" {
		group = "core"
	}
	sum := sha1.Sum(append([]byte(parent), content...))
	suffix := "-" + hex.EncodeToString(sum[:])
	prefix := resource + "." + group
	return prefix[:min(len(prefix), longestName-len(suffix))] + suffix, nil
}
