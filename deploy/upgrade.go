package deploy

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// TakeOverFrom has Apply take over, once and with two calls more, all that the named managers own of
// an object by other writes than applies: what `kubectl apply` ("kubectl-client-side-apply"),
// `kubectl create` ("kubectl-create") or an operator that sent whole objects left there. What they
// set and the intent leaves out goes then, as it would have gone with them.
func TakeOverFrom(managers ...string) Option {
	return func(s *settings) { s.takeOverFrom = append(slices.Clip(s.takeOverFrom), managers...) }
}

// upgrade makes ours what TakeOverFrom names, and returns the object as it is then.
func (t *task) upgrade(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if t.dryRun || !t.hasPredecessor(live) {
		return live, nil
	}
	// A View may show less of managedFields, all of which are written.
	live, err := t.port.Get(ctx, t.in.ref)
	if err != nil {
		return nil, err
	}
	t.partial = false
	body, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(t.takeOverFrom...), t.fieldManager)
	if err != nil {
		return nil, fmt.Errorf("%s: its managedFields can't be taken over: %w", t.in.ref, err)
	}
	if len(body) == 0 {
		return live, nil
	}
	return t.port.Patch(ctx, t.in.ref, Patch{Type: types.JSONPatchType, Body: body, FieldManager: t.fieldManager})
}

// hasPredecessor tells whether live has fields of managers that TakeOverFrom names.
func (s settings) hasPredecessor(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(managedEntries(live), func(entry map[string]any) bool {
		name, _ := entry["manager"].(string)
		return entry["operation"] == "Update" && entry["subresource"] == nil && slices.Contains(s.takeOverFrom, name)
	})
}
