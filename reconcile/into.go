package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/operkit/operkit/deploy"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// Into decodes what Resource returns into target, a pointer to its Go type, which then shares nothing
// with the resource. A field whose value doesn't fit is an error that names it, of the kind
// that Configuration makes; target is worthless then. Names of fields count as they are written, as everywhere in
// Kubernetes. metadata.managedFields are left out.
func (s *Session) Into(target any) error {
	return decodeInto(deploy.RefOf(s.resource).String(), withoutManagedFields(s.described.Object), target)
}

// withoutManagedFields is content without what is the larger part of most resources and of no use to a controller.
func withoutManagedFields(content map[string]any) map[string]any {
	metadata, _ := content["metadata"].(map[string]any)
	if metadata["managedFields"] == nil {
		return content
	}
	content, metadata = maps.Clone(content), maps.Clone(metadata)
	delete(metadata, "managedFields")
	content["metadata"] = metadata
	return content
}

// decodeInto decodes content, which errors call what, by way of JSON: that refuses numbers that are too large
// and shares no maps.
func decodeInto(what string, content map[string]any, target any) error {
	if at := reflect.ValueOf(target); at.Kind() != reflect.Pointer || at.IsNil() {
		return fmt.Errorf("%s: can't be decoded into a %T: pass a pointer to its Go type", what, target)
	}
	document, err := json.Marshal(content)
	if err == nil {
		err = apijson.Unmarshal(document, target)
	}
	var unfit *json.UnmarshalTypeError
	switch {
	case errors.As(err, &unfit):
		return Configuration("%s: %s: %s doesn't fit the type %s: correct it", what, strings.TrimPrefix(unfit.Field, "."), unfit.Value, unfit.Type)
	case err != nil:
		return Configuration("%s: doesn't fit %T: %w", what, target, err)
	}
	return nil
}
