package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// SecretName is the name of the Secret with an operator's own certificate. given is that of the settings.
func SecretName(given, operator string) string { return cmp.Or(given, operator+"-webhooks") }

// Issued reports whether a Secret has a certificate that the operator has issued itself.
func (o Owner) Issued(secret *unstructured.Unstructured) bool {
	return secret.GetAnnotations()[o.Domain+"/serving"] != ""
}

// Converts reports whether an object is a CustomResourceDefinition with a conversion.
func Converts(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == definitionKind
}

// Rows describes an object of an operator to people: what it is, its name, and what happens while no operator runs. A
// configuration has a row for each webhook. The binding of a policy has none.
func Rows(object *unstructured.Unstructured) (rows [][]string) {
	switch object.GroupVersionKind() {
	case bindingKind:
		return nil
	case policyKind:
		return [][]string{{"policy", object.GetName(), "it is enforced"}}
	case definitionKind:
		return [][]string{{"conversion", object.GetName(), "other versions than the stored one can't be read or written"}}
	case validatingKind, mutatingKind:
		what := "validator"
		if object.GroupVersionKind() == mutatingKind {
			what = "mutator"
		}
		entries, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, entry := range entries {
			content, _ := entry.(map[string]any)
			name, _ := content["name"].(string)
			outcome := "requests are refused"
			if content["failurePolicy"] == "Ignore" {
				outcome = "requests are allowed"
			}
			rows = append(rows, []string{what, name, outcome})
		}
		return rows
	}
	return [][]string{{strings.ToLower(object.GetKind()), object.GetNamespace() + "/" + object.GetName(), "it stays"}}
}

// RemoveConversion removes the conversion from a CustomResourceDefinition, and the labels and annotations that were
// written with it.
func (o Owner) RemoveConversion(ctx context.Context, port deploy.Port, definition *unstructured.Unstructured) error {
	annotations := map[string]any{injectKey: nil}
	for key := range definition.GetAnnotations() {
		if strings.HasPrefix(key, o.KeyDomain()+"/") {
			annotations[key] = nil
		}
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{o.key(): nil}, "annotations": annotations},
		"spec":     map[string]any{"conversion": map[string]any{"strategy": "None", "webhook": nil}},
	})
	if err != nil {
		return err
	}
	if _, err := port.Patch(ctx, deploy.RefOf(definition), deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: o.Name}); err != nil {
		return fmt.Errorf("conversion: %w", err)
	}
	return nil
}
