package webhooks

import (
	"context"
	"encoding/json"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// apply applies definitions. A definition may come with the address of an installed operator, a Service, while this
// process is reached by a URL, or the other way round. The API server refuses both together, and an apply can't remove
// what others own, so the other one is removed first.
func (k *Keeper) apply(ctx context.Context, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		if err := k.move(ctx, definition); err != nil {
			return err
		}
	}
	_, err := k.manager.Apply(ctx, definitions, deploy.Conflicts(deploy.Force))
	return err
}

// move replaces the address in the conversion of a definition if it is of another form than that of wanted.
func (k *Keeper) move(ctx context.Context, wanted *unstructured.Unstructured) error {
	ref := deploy.RefOf(wanted)
	live, err := k.manager.View().Get(ctx, ref)
	if err != nil || live == nil {
		return err
	}
	client := []string{"spec", "conversion", "webhook", "clientConfig"}
	content := wanted.DeepCopy().Object
	address, _, _ := unstructured.NestedMap(content, client...)
	before, _, _ := unstructured.NestedMap(live.Object, client...)
	changed := false
	for _, form := range []string{"service", "url"} {
		if address[form] == nil && before[form] != nil {
			address[form], changed = nil, true
		}
	}
	if !changed {
		return nil
	}
	if err := unstructured.SetNestedMap(content, address, client...); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"spec": content["spec"]})
	if err != nil {
		return err
	}
	_, err = k.manager.Port().Patch(ctx, ref, deploy.PatchRequest{
		Type: types.MergePatchType, Body: body, FieldManager: k.manager.FieldManager(),
	})
	return err
}
