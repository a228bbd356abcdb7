package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// flux is flux's ApplyAll as its controllers use it: with a client without a cache, since it finds differences by dry
// runs of the server.
type flux struct {
	manager *ssa.ResourceManager
	objects []*unstructured.Unstructured
}

func newFlux(_ context.Context, config *rest.Config, _ string, objects []*unstructured.Unstructured) (side, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	manager := ssa.NewResourceManager(c, nil, ssa.Owner{Field: "flux", Group: "shop.example.invalid"})
	manager.SetConcurrency(concurrency)
	// A copy, since ApplyAll sorts its argument.
	return &flux{manager, slices.Clone(objects)}, nil
}

func (f *flux) pass(ctx context.Context, want outcome) error {
	changes, err := f.manager.ApplyAll(ctx, f.objects, ssa.DefaultApplyOptions())
	if err != nil {
		return err
	}
	if len(changes.Entries) != len(f.objects) {
		return fmt.Errorf("%d of %d objects have a result", len(changes.Entries), len(f.objects))
	}
	action := map[outcome]ssa.Action{created: ssa.CreatedAction, unchanged: ssa.UnchangedAction, configured: ssa.ConfiguredAction}[want]
	for _, entry := range changes.Entries {
		if entry.Action != action {
			return fmt.Errorf("%s was %s, not %s", entry.Subject, entry.Action, want)
		}
	}
	return nil
}

func (f *flux) close() {}
