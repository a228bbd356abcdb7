package admission

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/operkit/operkit/smp"
	admissionv1 "k8s.io/api/admission/v1"
)

// addPatch adds the JSON patch from the object of the request to what the functions made of it. Without a difference
// there is none.
func addPatch(response *admissionv1.AdmissionResponse, before, after map[string]any) error {
	operations, err := smp.DiffJSON(before, after, smp.Shared())
	if err != nil || len(operations) == 0 {
		return err
	}
	if response.Patch, err = json.Marshal(operations); err != nil {
		return err
	}
	jsonPatch := admissionv1.PatchTypeJSONPatch
	response.PatchType = &jsonPatch
	return nil
}

// identity are the fields that a mutator can't change. The API server ignores a change of some of them, and refuses
// others with errors that don't name the webhook.
var identity = []string{
	"apiVersion", "kind", "metadata.name", "metadata.generateName", "metadata.namespace", "metadata.uid", "metadata.resourceVersion",
	"metadata.generation", "metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds",
	"metadata.selfLink", "metadata.managedFields",
}

// sameIdentity returns an error that names the field of the identity that differs.
func sameIdentity(before, after map[string]any) error {
	for _, path := range identity {
		if !reflect.DeepEqual(at(before, path), at(after, path)) {
			return fmt.Errorf("the function has changed %s: leave it as it is", path)
		}
	}
	return nil
}

// at returns the value of a field, nil if it is absent.
func at(content map[string]any, path string) any {
	first, rest, nested := strings.Cut(path, ".")
	if !nested {
		return content[first]
	}
	inner, _ := content[first].(map[string]any)
	return at(inner, rest)
}
